# One test program a floor, from the *_test.cc files beside the code.
include(GoogleTest)
find_package(GTest REQUIRED)

function(millrace_tests name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*_test.cc)
  # Those over every device are a program of their own, below.
  list(FILTER sources EXCLUDE REGEX "_device_test\\.cc$")
  if(MILLRACE_KERNELS_ONLY)
    list(FILTER sources EXCLUDE REGEX "src/base/(settings|log)_test\\.cc$")
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
  # Under ThreadSanitizer none of the tests that need these is run.
  if(NOT MILLRACE_KERNELS_ONLY AND NOT MILLRACE_SANITIZE STREQUAL "thread")
    add_dependencies(${name}_tests millrace-decoder millrace-hdf5)
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

# What tests of devices open instead of NVIDIA's driver: bodies run on the host, checked.
file(GLOB_RECURSE bodies CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_body.inc ${CMAKE_SOURCE_DIR}/tests/support/gpu/*_body.inc)
set(host_bodies "")
foreach(body ${bodies})
  get_filename_component(name ${body} NAME_WE)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}_host.cc CONTENT "#include \"tests/support/gpu/host_body.h\"\n#include \"${body}\"\n")
  list(APPEND host_bodies ${CMAKE_BINARY_DIR}/generated/${name}_host.cc)
endforeach()
# NAME BODY...: the driver with these bodies.
function(millrace_fake_cuda_of name)
  add_library(${name} MODULE ${CMAKE_SOURCE_DIR}/tests/support/gpu/fake_cuda.cc ${CMAKE_SOURCE_DIR}/tests/support/gpu/fake_driver.cc
    ${CMAKE_SOURCE_DIR}/tests/support/gpu/host_launch.cc ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  # Bodies are C: their numbers turn into each other without a word.
  target_compile_options(${name} PRIVATE -Wno-conversion -Wno-sign-conversion -Wno-unused-const-variable)
  target_compile_definitions(${name} PRIVATE MILLRACE_BODY_HOST=1)
  # Under the driver's own name, each in a folder: who has opened it gets it by that name as well.
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${name})
  target_link_options(${name} PRIVATE -Wl,-soname,libcuda.so.1)
endfunction()
millrace_fake_cuda_of(fake_cuda ${host_bodies})
foreach(tests device_tests jobs_tests)
  if(TARGET ${tests})
    add_dependencies(${tests} fake_cuda)
    target_compile_definitions(${tests} PRIVATE MILLRACE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
  endif()
endforeach()

if(MILLRACE_CLANG AND NOT MILLRACE_KERNELS_ONLY)
# Kernels on every device, simulated and real: *_device_test.cc. Starting a driver takes longer than most tests, so a process
# does them all; MILLRACE_TEST_DEVICES names others than the ones of this machine.
file(GLOB_RECURSE device_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/*_device_test.cc ${CMAKE_SOURCE_DIR}/src/kernels/*_device_test.cc)
add_library(probe_bodies STATIC)
set_target_properties(probe_bodies PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(probe_bodies PUBLIC ${CMAKE_SOURCE_DIR})
millrace_bodies(probe_bodies tests/support/gpu)
# NAME FAKE SOURCE...: tests, and sources that take the place of the floors' own.
function(millrace_conformance_of name fake)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE probe_bodies millrace_kernels GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE MILLRACE_FAKE_CUDA="$<TARGET_FILE:${fake}>" MILLRACE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_dependencies(${name} ${fake})
endfunction()
millrace_conformance_of(conformance fake_cuda ${device_tests})
add_executable(gpu_kit ${CMAKE_SOURCE_DIR}/tests/support/gpu/kit.cc)
target_link_libraries(gpu_kit PRIVATE millrace_kernels)
# In parts, which run side by side.
foreach(part 0 1)
  add_test(NAME conformance_simulated_${part} COMMAND conformance --gtest_filter=-*OpenCL*)
  set_tests_properties(conformance_simulated_${part} PROPERTIES TIMEOUT 900 ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${part}"
    COST 1000)  # the longest: first
endforeach()
add_test(NAME conformance_opencl COMMAND conformance --gtest_filter=*OpenCL*)

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
add_executable(millrace-attested ${CMAKE_SOURCE_DIR}/src/cli/main.cc ${attested}.cc)
target_link_libraries(millrace-attested PRIVATE millrace_cli)
set_target_properties(millrace-attested PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_executable(attested_tests ${CMAKE_SOURCE_DIR}/src/jobs/render/draw/drawer_cuda_test.cc
  ${CMAKE_SOURCE_DIR}/src/jobs/latents/library_cuda_test.cc ${attested}.cc)
target_link_libraries(attested_tests PRIVATE millrace_jobs GTest::gtest GTest::gmock GTest::gtest_main)
target_compile_definitions(attested_tests PRIVATE MILLRACE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>" MILLRACE_ATTESTED=1)
add_dependencies(attested_tests fake_cuda)
add_test(NAME attested COMMAND attested_tests --gtest_filter=*WhereItIsAttested*)

# Faults that are planted, each by a change of one line of a copy: what is built of it must fail, and for the right reason.
# Sanitizers see nothing more of them.
if(NOT MILLRACE_SANITIZE)
function(millrace_plant file line fault output)
  file(READ ${CMAKE_SOURCE_DIR}/${file} text)
  string(FIND "${text}" "${line}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the line in which a fault is planted is not in ${file}: ${line}")
  endif()
  string(LENGTH "${line}" length)
  math(EXPR rest "${at} + ${length}")
  string(SUBSTRING "${text}" 0 ${at} before)
  string(SUBSTRING "${text}" ${rest} -1 after)
  file(CONFIGURE OUTPUT ${output} CONTENT "@before@@fault@@after@" @ONLY)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
endfunction()
# NAME TEST MESSAGE: the fault NAME is caught by TEST, which says MESSAGE.
function(millrace_caught name fake test message)
  millrace_conformance_of(planted_${name} ${fake} ${CMAKE_SOURCE_DIR}/src/device/queue_device_test.cc ${ARGN})
  target_compile_options(planted_${name} PRIVATE -O0)
  add_test(NAME planted_${name} COMMAND planted_${name} --gtest_filter=${test})
  set_tests_properties(planted_${name} PROPERTIES PASS_REGULAR_EXPRESSION "${message}.*\\[  FAILED  \\]" TIMEOUT 300)
endfunction()
set(planted ${CMAKE_BINARY_DIR}/generated/planted)
millrace_plant(tests/support/gpu/probe_body.inc "  MR_BARRIER();\n  if (MR_THREAD < length) {" "  if (MR_THREAD < length) {" ${planted}/barrier.inc)
millrace_plant(tests/support/gpu/probe_body.inc "part[length - 1 - MR_THREAD]" "part[64 - MR_THREAD]" ${planted}/off_by_one.inc)
foreach(fault barrier off_by_one)
  file(CONFIGURE OUTPUT ${planted}/${fault}_host.cc CONTENT "#include \"tests/support/gpu/host_body.h\"\n#include \"${planted}/${fault}.inc\"\n")
  set(bodies_with_${fault} ${host_bodies})
  list(FILTER bodies_with_${fault} EXCLUDE REGEX "probe_body_host")
  millrace_fake_cuda_of(fake_cuda_${fault} ${bodies_with_${fault}} ${planted}/${fault}_host.cc)
endforeach()
millrace_caught(barrier fake_cuda_barrier *FloatsAreTheHosts*simulated* "no barrier is between")
millrace_caught(off_by_one fake_cuda_off_by_one *FloatsAreTheHosts*simulated* "is at 64 of 64 in part")
# In charts: sums that are read before all of them are there, and a slant that begins a row late.
millrace_plant(src/kernels/chart/body/paint.inc "      if (parts > 1) totals[part] = sum;\n    }\n    MR_BARRIER();"
  "      if (parts > 1) totals[part] = sum;\n    }" ${planted}/chart_barrier/src/kernels/chart/body/paint.inc)
millrace_plant(src/kernels/chart/body/paint.inc "for (i32 y = chart_max_i(begin, top); y < chart_min_i(end, price_bottom); ++y) {\n        chart_slant_row"
  "for (i32 y = chart_max_i(begin + 1, top); y < chart_min_i(end, price_bottom); ++y) {\n        chart_slant_row"
  ${planted}/chart_row/src/kernels/chart/body/paint.inc)
# In streams: a run that begins a pixel late.
millrace_plant(src/kernels/rle_deflate/body/rows.inc "alike >= DEFLATE_ALIKE && level == last" "alike > DEFLATE_ALIKE && level == last"
  ${planted}/stream_run/src/kernels/rle_deflate/body/rows.inc)
# In hashes: a sum that is rounded elsewhere.
millrace_plant(src/kernels/hash/body/resize.inc "u32 total = 2097152u;" "u32 total = 9000000u;" ${planted}/hash_sum/src/kernels/hash/body/resize.inc)
# In latents: a row that is missed, and a sum over frames in another order.
millrace_plant(src/kernels/latents/body/plane.inc "member + 1]; y < end; ++y)" "member + 1]; y + 1 < end; ++y)"
  ${planted}/latents_row/src/kernels/latents/body/plane.inc)
millrace_plant(src/kernels/latents/body/spectrum.inc "for (u32 p = 0; p < planes; ++p) {" "for (u32 p = planes; p-- > 0;) {"
  ${planted}/latents_order/src/kernels/latents/body/spectrum.inc)
foreach(fault chart_barrier chart_row stream_run hash_sum latents_row latents_order)
  millrace_fake_cuda_of(fake_cuda_${fault} ${host_bodies})
  target_include_directories(fake_cuda_${fault} BEFORE PRIVATE ${planted}/${fault})
endforeach()
millrace_caught(chart_barrier fake_cuda_chart_barrier *LinesOfEveryWidth*simulated* "no barrier is between" ${CMAKE_SOURCE_DIR}/src/kernels/chart/chart_device_test.cc)
millrace_caught(chart_row fake_cuda_chart_row *LinesOfEveryWidth*simulated* "bytes differ" ${CMAKE_SOURCE_DIR}/src/kernels/chart/chart_device_test.cc)
millrace_caught(stream_run fake_cuda_stream_run *PixelsAndWrappersOfEveryKind*simulated* "the CPU's has" ${CMAKE_SOURCE_DIR}/src/kernels/rle_deflate/deflate_device_test.cc)
millrace_caught(latents_row fake_cuda_latents_row *MoreLatentsThanMemory*simulated* "spatial.variance" ${CMAKE_SOURCE_DIR}/src/kernels/latents/latents_device_test.cc)
millrace_caught(latents_order fake_cuda_latents_order *MoreLatentsThanMemory*simulated* "frequency.spatial_entropy" ${CMAKE_SOURCE_DIR}/src/kernels/latents/latents_device_test.cc)
# And what their own checks make of it, with everything that was not compared.
set(wrong "the CPU's: it gave another answer than the CPU")
millrace_caught(chart_unseen fake_cuda_chart_row ChartChecks.SeeWhatABodyGetsWrong "${wrong}" ${CMAKE_SOURCE_DIR}/src/kernels/chart/chart_device_test.cc)
millrace_caught(stream_unseen fake_cuda_stream_run ChartChecks.SeeWhatABodyGetsWrongInStreams "${wrong}" ${CMAKE_SOURCE_DIR}/src/kernels/chart/chart_device_test.cc)
millrace_caught(hash_unseen fake_cuda_hash_sum HashChecks.SeeWhatABodyGetsWrong "${wrong}" ${CMAKE_SOURCE_DIR}/src/kernels/hash/hash_device_test.cc)
millrace_caught(latents_unseen fake_cuda_latents_order LatentChecks.SeeWhatABodyGetsWrong "${wrong}" ${CMAKE_SOURCE_DIR}/src/kernels/latents/latents_device_test.cc)
millrace_plant(src/device/queue.cc "if (event.event_) backend_->wait(*event.event_);" "(void)event;" ${planted}/missing_wait.cc)
millrace_plant(src/device/queue.cc "held_.push_back(memory);" "{}" ${planted}/freed_in_use.cc)
millrace_caught(missing_wait fake_cuda *AKernelWaitsForTheOtherQueuesCopy*simulated* "a copy came late" ${planted}/missing_wait.cc)
millrace_caught(freed_in_use fake_cuda *ABufferLivesAsLongAsItIsInUse*simulated* "freed while it was in use" ${planted}/freed_in_use.cc)
# Batches that nobody compares, or that are kept though the device was struck out.
millrace_plant(src/device/batches.h "if (!work_.same(*one->part, truth))" "if (false)" ${planted}/uncompared/src/device/batches.h)
millrace_plant(src/device/batches.h "if (accelerator_.struck_out()) forget_waiting();" "" ${planted}/not_redone/src/device/batches.h)
foreach(fault uncompared not_redone)
  add_executable(planted_${fault} ${CMAKE_SOURCE_DIR}/src/device/batches_test.cc)
  # Before the folder of the sources, in which the whole one lies.
  target_include_directories(planted_${fault} BEFORE PRIVATE ${planted}/${fault})
  target_link_libraries(planted_${fault} PRIVATE millrace_device GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME planted_${fault} COMMAND planted_${fault})
endforeach()
set_tests_properties(planted_uncompared PROPERTIES PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] Batches.AWrongAnswerIsSeen")
set_tests_properties(planted_not_redone PROPERTIES PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] Batches.WhatWasNotCheckedIsDoneAgain")
# A compiler that fuses: the same body, contracted.
  millrace_body(${CMAKE_SOURCE_DIR}/tests/support/gpu/probe_body.inc probe ${planted}/fused -ffp-contract=fast)
  millrace_caught(fused fake_cuda Ptx.ProbesAreWhatTheyDeclare "probe_turn: 1 fused multiply-adds, 0 are declared" ${planted}/fused/probe_body.cc)
endif()
set_tests_properties(conformance_opencl PROPERTIES SKIP_REGULAR_EXPRESSION "left out: OpenCL")
set_tests_properties(conformance_opencl PROPERTIES TIMEOUT 900 COST 900)
endif()

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
