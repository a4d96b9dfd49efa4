# The extension of the Python package: python/src over include/millrace alone. Built where nanobind is (./dev puts it into
# .venv); the package as it lies in ${CMAKE_BINARY_DIR}/python can be imported from there.
set(MILLRACE_PYTHON "" CACHE FILEPATH "The Python that the package is built for, with nanobind")
if(SKBUILD)
  # A wheel's is the one that builds it.
  set(MILLRACE_PYTHON ${Python_EXECUTABLE} CACHE FILEPATH "" FORCE)
elseif(NOT MILLRACE_PYTHON AND EXISTS ${CMAKE_SOURCE_DIR}/.venv/bin/python)
  set(MILLRACE_PYTHON ${CMAKE_SOURCE_DIR}/.venv/bin/python CACHE FILEPATH "" FORCE)
endif()
if(MILLRACE_SANITIZE)
  # An interpreter that is built without them cannot load it.
  return()
endif()
if(NOT MILLRACE_PYTHON)
  message(STATUS "No Python with nanobind: the Python package is not built")
  return()
endif()
execute_process(COMMAND ${MILLRACE_PYTHON} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE missing ERROR_QUIET)
if(missing)
  message(STATUS "${MILLRACE_PYTHON} has no nanobind: the Python package is not built")
  return()
endif()
set(Python_EXECUTABLE ${MILLRACE_PYTHON})
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(nanobind CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/src/*.cc)
# From 3.12 on one extension does for all that come after; before there is no stable interface that nanobind could use.
if(Python_VERSION VERSION_GREATER_EQUAL 3.12 AND NOT TARGET Python::SABIModule)
  # CMake before 3.26 does not know it. Here it is the headers, as Python::Module.
  add_library(Python::SABIModule INTERFACE IMPORTED)
  target_link_libraries(Python::SABIModule INTERFACE Python::Module)
endif()
nanobind_add_module(millrace_python NB_STATIC NOMINSIZE STABLE_ABI ${python_sources})
target_include_directories(millrace_python PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/python/src)
# What others wrote is not held to this project's warnings.
target_include_directories(millrace_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS} ${NB_DIR}/include)
target_link_libraries(millrace_python PRIVATE millrace_shared)
target_compile_definitions(millrace_python PRIVATE MILLRACE_VERSION="${PROJECT_VERSION}")
set(package ${CMAKE_BINARY_DIR}/python/millrace)
# Two folders above the package as it lies in the build: libmillrace.so. A wheel has another (cmake/wheel.cmake).
set_target_properties(millrace_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${package} INSTALL_RPATH "\$ORIGIN/../..")
foreach(others nanobind-static nanobind-static-abi3)
  if(TARGET ${others})
    target_compile_options(${others} PRIVATE -w)
  endif()
endforeach()
# The rest of the package where the extension is, as it is edited.
file(MAKE_DIRECTORY ${package})
file(GLOB modules CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/python/millrace ${CMAKE_SOURCE_DIR}/python/millrace/*)
list(FILTER modules EXCLUDE REGEX "__pycache__")
foreach(module ${modules})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/millrace/${module} ${package}/${module} SYMBOLIC)
endforeach()
