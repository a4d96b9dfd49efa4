# What runs models: src/model/openvino in a shared object of its own, which the program opens when a model is asked for. It
# is built where OpenVINO's wheel is (./dev puts it there); nothing else needs it, and nothing else sees its headers.
file(GLOB found ${CMAKE_SOURCE_DIR}/.venv-openvino/lib/python3*/site-packages/openvino)
set(MILLRACE_OPENVINO "${found}" CACHE PATH "The folder `openvino` of its wheel: headers and libraries")
# It opens more of its own libraries while it works, which a program that locks itself in has to know of.
set(openvino_libraries "")
if(MILLRACE_OPENVINO)
  get_filename_component(openvino_libraries ${MILLRACE_OPENVINO}/libs ABSOLUTE)
endif()
set_source_files_properties(src/cli/program_sandbox.cc PROPERTIES
  COMPILE_DEFINITIONS "MILLRACE_OPENVINO_LIBRARIES=\"${openvino_libraries}\"")
if(MILLRACE_SANITIZE)
  # oneTBB opens libtbbbind with RTLD_DEEPBIND when OpenVINO asks for streams, which sanitizers end the program for. Tests
  # have something else that runs their network.
  if(MILLRACE_TESTS)
    add_library(ramp-backend MODULE ${CMAKE_SOURCE_DIR}/tests/support/ramp_backend.cc)
    target_include_directories(ramp-backend PRIVATE ${CMAKE_SOURCE_DIR})
    set_target_properties(ramp-backend PROPERTIES PREFIX "" OUTPUT_NAME libmillrace-openvino
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/ramps)
  endif()
  return()
endif()
file(GLOB library ${MILLRACE_OPENVINO}/libs/libopenvino.so.[0-9]*)
if(NOT library OR NOT EXISTS ${MILLRACE_OPENVINO}/include/openvino/openvino.hpp)
  message(STATUS "No OpenVINO: the program is built without what runs models")
  return()
endif()
add_library(millrace-openvino MODULE ${CMAKE_SOURCE_DIR}/src/model/openvino/openvino_backend.cc)
target_include_directories(millrace-openvino PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(millrace-openvino SYSTEM PRIVATE ${MILLRACE_OPENVINO}/include)
target_link_libraries(millrace-openvino PRIVATE ${library})
set_target_properties(millrace-openvino PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} INSTALL_RPATH ${openvino_libraries})
add_dependencies(millrace millrace-openvino)
install(TARGETS millrace-openvino LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/millrace)
