# One test program a floor, from the *_test.cc files beside the code.
include(GoogleTest)
find_package(GTest REQUIRED)

function(millrace_tests name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*_test.cc)
  if(MILLRACE_KERNELS_ONLY)
    list(FILTER sources EXCLUDE REGEX "src/base/(settings|log)_test\\.cc$")
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

# What driver_test.cc opens instead of NVIDIA's driver.
add_library(fake_cuda MODULE ${CMAKE_SOURCE_DIR}/tests/support/fake_cuda.cc)
set_target_properties(fake_cuda PROPERTIES CXX_VISIBILITY_PRESET default)
add_dependencies(device_tests fake_cuda)
target_compile_definitions(device_tests PRIVATE MILLRACE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")

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
