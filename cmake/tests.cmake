# One test program a floor, from the *_test.cc files beside the code.
find_package(GTest REQUIRED)
enable_testing()

# SHARDS: processes that share the tests of one program.
function(millrace_tests name shards)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*_test.cc)
  # Tests of kernels on devices are a program of their own: cmake/device_tests.cmake.
  list(FILTER sources EXCLUDE REGEX "_device_test\\.cc$")
  if(MILLRACE_KERNELS_ONLY)
    list(FILTER sources EXCLUDE REGEX "src/base/(settings|log)_test\\.cc$")
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  # The code of tests is cold. Kernels are the exception: without inlining, Highway's headers take minutes.
  if(NOT name STREQUAL "kernels")
    target_compile_options(${name}_tests PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  millrace_in_groups(${name}_tests)
  target_link_libraries(${name}_tests PRIVATE millrace_${name} GTest::gtest GTest::gmock)
  # Where reading what is gone is seen, allocations can fail, too: ./dev allocations.
  if(MILLRACE_SANITIZE MATCHES "address" AND name MATCHES "^(io|pipeline)$")
    target_sources(${name}_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/failing_allocations.cc)
  else()
    target_link_libraries(${name}_tests PRIVATE GTest::gtest_main)
  endif()
  target_compile_definitions(${name}_tests PRIVATE MILLRACE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # Under ThreadSanitizer no test is run that needs the decoder.
  if(name STREQUAL "pipeline")
    add_dependencies(${name}_tests millrace-hdf5)
  elseif(NOT MILLRACE_KERNELS_ONLY AND NOT MILLRACE_SANITIZE STREQUAL "thread")
    add_dependencies(${name}_tests millrace-decoder millrace-hdf5)
  endif()
  # These take half a minute or more under a sanitizer, and a smaller one stands beside each.
  set(slow "")
  if(MILLRACE_SANITIZE AND name STREQUAL "kernels")
    set(slow SelfJoinOf64BitsEqualsTheDefinition SelfJoinOf256BitsEqualsTheDefinition CountedPairsAreHeldNowhere ALineOnAFrameIsLostWithIt
      AMarkIsFoundWhereverTilesMeet ATileIsComparedPixelByPixel FramesOfAStackAreNoCopiesOfEachOther WhatHoldsAPictureDoesNot
      WhatTheOneHasNoiseInIsNotSharper)
  elseif(MILLRACE_SANITIZE AND name STREQUAL "jobs")
    set(slow InADenseGroupAllAreComparedWithTheSameFew TheLibraryAloneDecides VeryNearPicturesAreAllCompared
      TwentyThousandFramesOfOneAppearance)
  endif()
  list(TRANSFORM slow PREPEND ":*." OUTPUT_VARIABLE slow)
  list(JOIN slow "" slow)
  set(filter "")
  if(slow)
    set(filter "--gtest_filter=-${slow}")
  endif()
  if(name STREQUAL "jobs")
    # A process looks for drivers once, and these must find the simulated one.
    add_test(NAME jobs_on_cuda COMMAND jobs_tests --gtest_filter=*OnCuda*)
    set_tests_properties(jobs_on_cuda PROPERTIES TIMEOUT 900)
    set(filter "--gtest_filter=-*OnCuda*${slow}")
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND ${name}_tests ${filter})
    set_tests_properties(${name}_${shard} PROPERTIES TIMEOUT 900 ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

foreach(floor base memory device)
  millrace_tests(${floor} 1)
endforeach()
millrace_tests(kernels 8)
if(MILLRACE_KERNELS_ONLY)
  # The doctor's known answers must hold on this architecture too.
  target_sources(kernels_tests PRIVATE ${CMAKE_SOURCE_DIR}/src/jobs/doctor/self_check.cc
                 ${CMAKE_SOURCE_DIR}/src/jobs/doctor/self_check_test.cc)
else()
  foreach(floor trace model report cli)
    millrace_tests(${floor} 1)
  endforeach()
  millrace_tests(pipeline 4)
  millrace_tests(io 4)
  millrace_tests(jobs 8)
endif()

# Of the jobs, threads of ours share the catalogue alone (tools/tsan.sh), which needs no floor above io.
if(MILLRACE_SANITIZE STREQUAL "thread")
  file(GLOB catalog CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/jobs/dedupe/catalog/*.cc)
  add_executable(catalog_tests ${catalog})
  target_link_libraries(catalog_tests PRIVATE millrace_io PkgConfig::SQLITE GTest::gtest GTest::gmock GTest::gtest_main)
endif()

# What the streams of src/kernels/rle_deflate are inflated with, and rows of test datasets compressed.
find_package(ZLIB REQUIRED)
target_link_libraries(kernels_tests PRIVATE ZLIB::ZLIB)
if(NOT MILLRACE_KERNELS_ONLY)
  target_link_libraries(io_tests PRIVATE ZLIB::ZLIB)
  target_link_libraries(pipeline_tests PRIVATE ZLIB::ZLIB)
endif()

include(cmake/device_tests.cmake)

# Write pages for the tests that drive a browser (tests/cli/page_test.py, tests/cli/report_test.py); these are not run with
# sanitizers.
if(NOT MILLRACE_KERNELS_ONLY AND NOT MILLRACE_SANITIZE)
  foreach(sample page_sample report_sample)
    add_executable(${sample} ${CMAKE_SOURCE_DIR}/tests/support/${sample}.cc)
    target_link_libraries(${sample} PRIVATE millrace_jobs)
    set_target_properties(${sample} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endforeach()
endif()

# What src/io/process/helper_sandbox_test.cc starts as a helper.
if(NOT MILLRACE_KERNELS_ONLY)
  add_executable(walled ${CMAKE_SOURCE_DIR}/tests/support/sandboxed.cc)
  target_link_libraries(walled PRIVATE millrace_sandbox)
  # The same without the list of calls, behind which the other walls would not be seen.
  add_executable(walled_but_calls ${CMAKE_SOURCE_DIR}/tests/support/sandboxed.cc
                 ${CMAKE_SOURCE_DIR}/src/io/process/helper/sandbox.cc ${CMAKE_SOURCE_DIR}/src/io/process/helper/landlock.cc)
  target_link_libraries(walled_but_calls PRIVATE millrace_base)
  target_compile_definitions(walled_but_calls PRIVATE MILLRACE_SANITIZED=1)
  add_dependencies(io_tests walled walled_but_calls)
  target_compile_definitions(io_tests PRIVATE MILLRACE_SANDBOXED="$<TARGET_FILE:walled>"
                             MILLRACE_SANDBOXED_BUT_CALLS="$<TARGET_FILE:walled_but_calls>")
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

# They name the targets' functions otherwise than libFuzzer does.
if(MILLRACE_SANITIZE MATCHES "address" AND MILLRACE_PYTHON AND NOT MILLRACE_FUZZ)
  include(cmake/fuzz_inputs.cmake)
endif()
