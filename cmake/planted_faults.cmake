# Faults that are planted, each by a change of one line of a copy: what is built of it must fail, and for the right reason.
# Sanitizers see nothing more of them.
set(planted ${CMAKE_BINARY_DIR}/generated/planted)

# FILE LINE FAULT OUTPUT: a copy of FILE in which FAULT stands for LINE.
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
# NAME BODY FILE LINE FAULT: the simulated driver fake_cuda_NAME, in which BODY has this fault.
function(millrace_plant_in_body name body file line fault)
  millrace_plant(${file} "${line}" "${fault}" ${planted}/${name}/${file})
  millrace_driver_objects(host_${name} ${CMAKE_BINARY_DIR}/generated/${body}_body_host.cc)
  # Before the folder of the sources, in which the whole one lies.
  target_include_directories(host_${name} BEFORE PRIVATE ${planted}/${name})
  millrace_fake_cuda_of(fake_cuda_${name} ${body} host_${name})
endfunction()
# NAME FAKE TEST MESSAGE TESTS...: the fault NAME is caught by TEST, which says MESSAGE.
function(millrace_caught name fake test message)
  millrace_conformance_of(planted_${name} ${fake} ${ARGN})
  add_test(NAME planted_${name} COMMAND planted_${name} --gtest_filter=${test})
  set_tests_properties(planted_${name} PROPERTIES PASS_REGULAR_EXPRESSION "${message}.*\\[  FAILED  \\]" TIMEOUT 300)
endfunction()

# In probes, whose file the generated source names by its full path: a copy of that source names the copy.
millrace_plant(tests/support/gpu/probe_body.inc "  MR_BARRIER();\n  if (MR_THREAD < length) {" "  if (MR_THREAD < length) {" ${planted}/barrier.inc)
millrace_plant(tests/support/gpu/probe_body.inc "part[length - 1 - MR_THREAD]" "part[64 - MR_THREAD]" ${planted}/off_by_one.inc)
foreach(fault barrier off_by_one)
  file(CONFIGURE OUTPUT ${planted}/${fault}_host.cc CONTENT "#include \"tests/support/gpu/host_body.h\"\n#include \"${planted}/${fault}.inc\"\n")
  millrace_driver_objects(host_${fault} ${planted}/${fault}_host.cc)
  millrace_fake_cuda_of(fake_cuda_${fault} probe host_${fault})
endforeach()
set(queue queue_device_test)
millrace_caught(barrier fake_cuda_barrier *FloatsAreTheHosts*simulated* "no barrier is between" ${queue})
millrace_caught(off_by_one fake_cuda_off_by_one *FloatsAreTheHosts*simulated* "is at 64 of 64 in part" ${queue})
# In charts: sums that are read before all of them are there, and a slant that begins a row late.
millrace_plant_in_body(chart_barrier chart src/kernels/chart/body/paint.inc "      if (parts > 1) totals[part] = sum;\n    }\n    MR_BARRIER();"
  "      if (parts > 1) totals[part] = sum;\n    }")
millrace_plant_in_body(chart_row chart src/kernels/chart/body/paint.inc
  "for (i32 y = chart_max_i(begin, top); y < chart_min_i(end, price_bottom); ++y) {\n        chart_slant_row"
  "for (i32 y = chart_max_i(begin + 1, top); y < chart_min_i(end, price_bottom); ++y) {\n        chart_slant_row")
# In streams: a run that begins a pixel late.
millrace_plant_in_body(stream_run deflate src/kernels/rle_deflate/body/rows.inc "alike >= DEFLATE_ALIKE && level == last"
  "alike > DEFLATE_ALIKE && level == last")
# In hashes: a sum that is rounded elsewhere.
millrace_plant_in_body(hash_sum hash src/kernels/hash/body/resize.inc "u32 total = 2097152u;" "u32 total = 9000000u;")
# In latents: a row that is missed, and a sum over frames in another order.
millrace_plant_in_body(latents_row latents src/kernels/latents/body/plane.inc "member + 1]; y < end; ++y)" "member + 1]; y + 1 < end; ++y)")
millrace_plant_in_body(latents_order latents src/kernels/latents/body/spectrum.inc "for (u32 p = 0; p < planes; ++p) {"
  "for (u32 p = planes; p-- > 0;) {")
millrace_caught(chart_barrier fake_cuda_chart_barrier *LinesOfEveryWidth*simulated* "no barrier is between" chart_device_test)
millrace_caught(chart_row fake_cuda_chart_row *LinesOfEveryWidth*simulated* "bytes differ" chart_device_test)
millrace_caught(stream_run fake_cuda_stream_run *PixelsAndWrappersOfEveryKind*simulated* "the CPU's has" deflate_device_test)
millrace_caught(latents_row fake_cuda_latents_row *MoreLatentsThanMemory*simulated* "spatial.variance" latents_device_test)
millrace_caught(latents_order fake_cuda_latents_order *MoreLatentsThanMemory*simulated* "frequency.spatial_entropy" latents_device_test)
# And what their own checks make of it, with everything that was not compared.
set(wrong "the CPU's: it gave another answer than the CPU")
millrace_caught(chart_unseen fake_cuda_chart_row ChartChecks.SeeWhatABodyGetsWrong "${wrong}" chart_device_test)
millrace_caught(stream_unseen fake_cuda_stream_run ChartChecks.SeeWhatABodyGetsWrongInStreams "${wrong}" chart_device_test)
millrace_caught(hash_unseen fake_cuda_hash_sum HashChecks.SeeWhatABodyGetsWrong "${wrong}" hash_device_test)
millrace_caught(latents_unseen fake_cuda_latents_order LatentChecks.SeeWhatABodyGetsWrong "${wrong}" latents_device_test)
# A program takes the other file in its place, which it can where that is an object of its own.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/device/queue.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
millrace_plant(src/device/queue.cc "if (event.event_) backend_->wait(*event.event_);" "(void)event;" ${planted}/missing_wait.cc)
millrace_plant(src/device/queue.cc "held_.push_back(memory);" "{}" ${planted}/freed_in_use.cc)
millrace_caught(missing_wait fake_cuda *AKernelWaitsForTheOtherQueuesCopy*simulated* "a copy came late" ${queue} ${planted}/missing_wait.cc)
millrace_caught(freed_in_use fake_cuda *ABufferLivesAsLongAsItIsInUse*simulated* "freed while it was in use" ${queue} ${planted}/freed_in_use.cc)
# Batches that nobody compares, or that are kept though the device was struck out.
millrace_plant(src/device/batches.h "if (!work_.same(*one->part, truth))" "if (false)" ${planted}/uncompared/src/device/batches.h)
millrace_plant(src/device/batches.h "if (accelerator_.is_excluded()) forget_waiting();" "" ${planted}/not_redone/src/device/batches.h)
foreach(fault uncompared not_redone)
  add_executable(planted_${fault} ${CMAKE_SOURCE_DIR}/src/device/batches_test.cc)
  target_include_directories(planted_${fault} BEFORE PRIVATE ${planted}/${fault})
  target_compile_options(planted_${fault} PRIVATE -O0 -U_FORTIFY_SOURCE)
  target_link_libraries(planted_${fault} PRIVATE millrace_device GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME planted_${fault} COMMAND planted_${fault})
endforeach()
set_tests_properties(planted_uncompared PROPERTIES PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] Batches.AWrongAnswerIsSeen")
set_tests_properties(planted_not_redone PROPERTIES PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] Batches.WhatWasNotCheckedIsDoneAgain")
# A compiler that fuses: the same body, contracted.
millrace_body(${CMAKE_SOURCE_DIR}/tests/support/gpu/probe_body.inc probe ${planted}/fused -ffp-contract=fast)
millrace_caught(fused fake_cuda Ptx.ProbesAreWhatTheyDeclare "probe_turn: 1 fused multiply-adds, 0 are declared" ${queue} ${planted}/fused/probe_body.cc)
