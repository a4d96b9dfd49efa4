# The simulated driver of NVIDIA devices, the tests of kernels on every device, and faults that these must catch.
set(support ${CMAKE_SOURCE_DIR}/tests/support/gpu)

# NAME SOURCE...: objects of the simulated driver. Bodies are C: their numbers turn into each other without a word.
function(millrace_driver_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -Wno-conversion -Wno-sign-conversion -Wno-unused-const-variable -Wno-clobbered)
  target_compile_definitions(${name} PRIVATE MILLRACE_BODY_HOST=1)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default)
endfunction()
millrace_driver_objects(fake_driver ${support}/fake_cuda.cc ${support}/fake_driver.cc ${support}/host_launch.cc)
# Each body, compiled for the host and checked while it runs.
file(GLOB_RECURSE bodies CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_body.inc ${support}/*_body.inc)
set(MILLRACE_HOST_BODIES "")
foreach(body ${bodies})
  get_filename_component(name ${body} NAME_WE)
  string(REGEX REPLACE "_body$" "" name ${name})
  set(source ${CMAKE_BINARY_DIR}/generated/${name}_body_host.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"tests/support/gpu/host_body.h\"\n#include \"${body}\"\n")
  millrace_driver_objects(host_${name} ${source})
  list(APPEND MILLRACE_HOST_BODIES host_${name})
endforeach()
# NAME [BODY OBJECTS]: the driver; OBJECTS take the place of one body.
function(millrace_fake_cuda_of name)
  set(objects fake_driver ${MILLRACE_HOST_BODIES})
  if(ARGC GREATER 1)
    list(REMOVE_ITEM objects host_${ARGV1})
    list(APPEND objects ${ARGV2})
  endif()
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name} MODULE ${objects})
  # Under the driver's own name, each in a folder: who has opened it gets it by that name as well.
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${name})
  target_link_options(${name} PRIVATE -Wl,-soname,libcuda.so.1)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/path_of_${name}.cc
    CONTENT "#include \"tests/support/gpu/fake_cuda.h\"\nconst char* const kFakeCudaPath = \"$<TARGET_FILE:${name}>\";\n")
endfunction()
millrace_fake_cuda_of(fake_cuda)
# TESTS FAKE: where the tests find their driver, in a source file of its own, so that all others can be shared.
function(millrace_tests_open tests fake)
  target_sources(${tests} PRIVATE ${CMAKE_BINARY_DIR}/generated/path_of_${fake}.cc)
  add_dependencies(${tests} ${fake})
endfunction()
millrace_tests_open(device_tests fake_cuda)
if(MILLRACE_KERNELS_ONLY)
  return()
endif()
millrace_tests_open(jobs_tests fake_cuda)
if(NOT MILLRACE_CLANG)
  return()
endif()

# The program as it will be when a card is attested: what `auto` does then.
set(attested ${CMAKE_BINARY_DIR}/generated/attested_for_test)
add_custom_command(
  OUTPUT ${attested}.json
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_BINARY_DIR}/generated -DOUTPUT=${attested}.json
    -P ${CMAKE_SOURCE_DIR}/tests/support/gpu/attest_for_test.cmake
  DEPENDS ${CMAKE_BINARY_DIR}/generated/hamming.ptx ${CMAKE_BINARY_DIR}/generated/chart.ptx ${CMAKE_BINARY_DIR}/generated/deflate.ptx
    ${CMAKE_BINARY_DIR}/generated/latents.ptx
    ${CMAKE_SOURCE_DIR}/tests/support/gpu/attest_for_test.cmake)
millrace_attested(${attested}.json ${attested}.cc)
add_executable(attested_tests ${CMAKE_SOURCE_DIR}/src/jobs/render/draw/drawer_cuda_test.cc
  ${CMAKE_SOURCE_DIR}/src/jobs/latents/library_cuda_test.cc ${attested}.cc)
target_link_libraries(attested_tests PRIVATE millrace_jobs GTest::gtest GTest::gmock GTest::gtest_main)
target_compile_definitions(attested_tests PRIVATE MILLRACE_ATTESTED=1)
target_compile_options(attested_tests PRIVATE -O0 -U_FORTIFY_SOURCE)
millrace_tests_open(attested_tests fake_cuda)
add_test(NAME attested COMMAND attested_tests --gtest_filter=*WhereItIsAttested*)
if(MILLRACE_SANITIZE)
  return()  # sanitizers see nothing more of what follows
endif()
add_executable(millrace-attested ${CMAKE_SOURCE_DIR}/src/cli/main.cc ${attested}.cc)
target_link_libraries(millrace-attested PRIVATE millrace_cli)
set_target_properties(millrace-attested PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

# Kernels on every device, simulated and real: *_device_test.cc. Starting a driver takes longer than most tests, so a process
# does them all; MILLRACE_TEST_DEVICES names others than the ones of this machine.
add_library(probe_bodies STATIC)
set_target_properties(probe_bodies PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(probe_bodies PUBLIC ${CMAKE_SOURCE_DIR})
millrace_bodies(probe_bodies tests/support/gpu)
file(GLOB_RECURSE device_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/*_device_test.cc ${CMAKE_SOURCE_DIR}/src/kernels/*_device_test.cc)
set(conformance_objects "")
foreach(source ${device_tests})
  get_filename_component(name ${source} NAME_WE)
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE millrace_kernels GTest::gtest GTest::gmock)
  target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  list(APPEND conformance_objects ${name})
endforeach()
# NAME FAKE TESTS...: a program of these tests, which are names of device tests or sources that take the place of the floors' own.
function(millrace_conformance_of name fake)
  list(TRANSFORM ARGN REPLACE "^([a-z_]+_device_test)$" "$<TARGET_OBJECTS:\\1>")
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE probe_bodies millrace_kernels GTest::gtest GTest::gmock GTest::gtest_main)
  millrace_tests_open(${name} ${fake})
endfunction()
millrace_conformance_of(conformance fake_cuda ${conformance_objects})
add_executable(gpu_kit ${support}/kit.cc)
target_link_libraries(gpu_kit PRIVATE millrace_kernels)
foreach(shard 0 1)
  add_test(NAME conformance_simulated_${shard} COMMAND conformance --gtest_filter=-*OpenCL*)
  set_tests_properties(conformance_simulated_${shard} PROPERTIES TIMEOUT 900 ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${shard}"
    COST 1000)  # the longest: first
endforeach()
add_test(NAME conformance_opencl COMMAND conformance --gtest_filter=*OpenCL*)
set_tests_properties(conformance_opencl PROPERTIES SKIP_REGULAR_EXPRESSION "left out: OpenCL" TIMEOUT 900 COST 900)

include(cmake/planted_faults.cmake)
