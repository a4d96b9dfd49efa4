// Test interface of the library that imitates NVIDIA's driver (fake_cuda.cc): names and signatures. The library is
// opened at run time.
#pragma once

extern "C" {
// Resets memory, streams and counters to their initial state, and reads the environment again.
using fake_cuda_reset_t = void (*)();
// Violations: calls of the program that the driver's interface does not allow, and errors of kernels that a device
// would not report. Lines of text, empty if there were none.
using fake_cuda_violations_t = const char* (*)();
// "live 0 streams 0 events 0 contexts 0 call_alloc 5 ...": what is there, and how often each call was made
using fake_cuda_summary_t = const char* (*)();
}

// The path of that library; each test program names its own (cmake/device_tests.cmake).
extern const char* const kFakeCudaPath;
