# One test program a floor, from the *_test.cc files beside the code.
include(GoogleTest)
find_package(GTest REQUIRED)

function(millrace_tests name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*_test.cc)
  # Those over every device are a program of their own, below.
  list(FILTER sources EXCLUDE REGEX "_device_test\\.cc$")
  if(MILLRACE_KERNELS_ONLY)
    list(FILTER sources EXCLUDE REGEX "src/(base/(settings|log)|trace/trace)_test\\.cc$")
  endif()
  # Of the jobs, threads of ours share the catalogue alone (tools/tsan.sh).
  if(name STREQUAL "jobs" AND MILLRACE_SANITIZE STREQUAL "thread")
    list(FILTER sources INCLUDE REGEX "/catalog/")
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  # The tests' own code is cold: half the time of compiling it under a sanitizer went into optimising it. Highway's
  # headers, which the kernels' tests see, take minutes without.
  if(MILLRACE_SANITIZE AND NOT name STREQUAL "kernels")
    target_compile_options(${name}_tests PRIVATE -O0)
  endif()
  target_link_libraries(${name}_tests PRIVATE millrace_${name} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_tests PRIVATE MILLRACE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  if(NOT MILLRACE_KERNELS_ONLY)
    add_dependencies(${name}_tests millrace millrace-decoder millrace-hdf5)
    target_compile_definitions(${name}_tests PRIVATE MILLRACE_PROGRAM="$<TARGET_FILE:millrace>")
  endif()
  gtest_discover_tests(${name}_tests DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()

if(MILLRACE_KERNELS_ONLY)
  foreach(floor base memory device kernels)
    millrace_tests(${floor})
  endforeach()
  # The doctor's known answers must hold on this architecture too.
  target_sources(kernels_tests PRIVATE ${CMAKE_SOURCE_DIR}/src/jobs/doctor/known_answers.cc
                 ${CMAKE_SOURCE_DIR}/src/jobs/doctor/known_answers_test.cc)
else()
  foreach(floor base trace memory device kernels io model pipeline report jobs cli)
    millrace_tests(${floor})
  endforeach()
endif()

# What the streams of src/kernels/rle_deflate are inflated with, and rows of test datasets compressed.
find_package(ZLIB REQUIRED)
target_link_libraries(kernels_tests PRIVATE ZLIB::ZLIB)
if(NOT MILLRACE_KERNELS_ONLY)
  target_link_libraries(io_tests PRIVATE ZLIB::ZLIB)
  target_link_libraries(pipeline_tests PRIVATE ZLIB::ZLIB)
endif()

# What tests of devices open instead of NVIDIA's driver: bodies run on the host, checked.
file(GLOB_RECURSE bodies CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_body.inc ${CMAKE_SOURCE_DIR}/tests/support/gpu/*_body.inc)
set(host_bodies "")
foreach(body ${bodies})
  get_filename_component(name ${body} NAME_WE)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}_host.cc CONTENT "#include \"${body}\"\n")
  list(APPEND host_bodies ${CMAKE_BINARY_DIR}/generated/${name}_host.cc)
endforeach()
function(millrace_fake_cuda name)
  add_library(${name} MODULE ${CMAKE_SOURCE_DIR}/tests/support/gpu/fake_cuda.cc
    ${CMAKE_SOURCE_DIR}/tests/support/gpu/host_launch.cc ${host_bodies})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  # Bodies are C: their numbers turn into each other without a word.
  target_compile_options(${name} PRIVATE -Wno-conversion -Wno-sign-conversion -Wno-unused-const-variable)
  target_compile_definitions(${name} PRIVATE MILLRACE_BODY_HOST=1 ${ARGN})
  # Under the driver's own name, each in a folder: who has opened it gets it by that name as well.
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${name})
  target_link_options(${name} PRIVATE -Wl,-soname,libcuda.so.1)
endfunction()
millrace_fake_cuda(fake_cuda)
add_dependencies(device_tests fake_cuda)
target_compile_definitions(device_tests PRIVATE MILLRACE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")

# Kernels on every device, simulated and real: *_device_test.cc. Starting a driver takes longer than most tests, so a process
# does them all; MILLRACE_TEST_DEVICES names others than the ones of this machine.
file(GLOB_RECURSE device_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/*_device_test.cc ${CMAKE_SOURCE_DIR}/src/kernels/*_device_test.cc)
function(millrace_conformance name fake)
  add_executable(${name} ${device_tests})
  target_link_libraries(${name} PRIVATE millrace_kernels GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE MILLRACE_FAKE_CUDA="$<TARGET_FILE:${fake}>")
  add_dependencies(${name} ${fake})
endfunction()
millrace_conformance(conformance fake_cuda)
add_test(NAME conformance_simulated COMMAND conformance --gtest_filter=-*OpenCL*)
add_test(NAME conformance_opencl COMMAND conformance --gtest_filter=*OpenCL*)
set_tests_properties(conformance_simulated conformance_opencl PROPERTIES TIMEOUT 900)

# Write pages for the tests that drive a browser (tests/cli/page_test.py, tests/cli/report_test.py).
if(NOT MILLRACE_KERNELS_ONLY)
  foreach(sample page_sample report_sample)
    add_executable(${sample} ${CMAKE_SOURCE_DIR}/tests/support/${sample}.cc)
    target_link_libraries(${sample} PRIVATE millrace_jobs)
    set_target_properties(${sample} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endforeach()
endif()

# What src/io/process/walls_test.cc starts as a helper.
if(NOT MILLRACE_KERNELS_ONLY)
  add_executable(walled ${CMAKE_SOURCE_DIR}/tests/support/walled.cc)
  target_link_libraries(walled PRIVATE millrace_walls)
  # The same without the list of calls, behind which the other walls would not be seen.
  add_executable(walled_but_calls ${CMAKE_SOURCE_DIR}/tests/support/walled.cc
                 ${CMAKE_SOURCE_DIR}/src/io/process/helper/walls.cc)
  target_link_libraries(walled_but_calls PRIVATE millrace_base)
  target_compile_definitions(walled_but_calls PRIVATE MILLRACE_SANITIZED=1)
  add_dependencies(io_tests walled walled_but_calls)
  target_compile_definitions(io_tests PRIVATE MILLRACE_WALLED="$<TARGET_FILE:walled>"
                             MILLRACE_WALLED_BUT_CALLS="$<TARGET_FILE:walled_but_calls>")
endif()

# What src/io/store/hdf5_reader_test.cc reads with.
if(NOT MILLRACE_KERNELS_ONLY)
  add_library(hdf5_plugin MODULE ${CMAKE_SOURCE_DIR}/tests/support/hdf5_plugin.cc)
  target_link_libraries(hdf5_plugin PRIVATE PkgConfig::HDF5)
  set_target_properties(hdf5_plugin PROPERTIES CXX_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/hdf5_plugins)
  add_dependencies(io_tests hdf5_plugin)
  target_compile_definitions(io_tests PRIVATE MILLRACE_HDF5_PLUGIN="$<TARGET_FILE:hdf5_plugin>")
endif()

# What tools/tsan.sh must see caught.
if(NOT MILLRACE_KERNELS_ONLY)
  add_executable(planted_race EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/support/planted_race.cc)
  target_link_libraries(planted_race PRIVATE millrace_pipeline)
endif()
