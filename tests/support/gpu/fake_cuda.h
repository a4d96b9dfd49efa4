// What tests ask of the library that pretends to be NVIDIA's driver (fake_cuda.cc). It is opened at run time; these are
// its names and signatures.
#pragma once

extern "C" {
// All memory, streams and counters as at the start; the environment is read anew.
using fake_cuda_reset_t = void (*)();
// What the program did that the driver's interface does not allow, or a kernel that a device would have let pass: lines
// of text, empty where there was nothing.
using fake_cuda_violations_t = const char* (*)();
// "live 0 streams 0 events 0 contexts 0 call_alloc 5 ...": what is there, and how often each call was made
using fake_cuda_summary_t = const char* (*)();
}

// The path of that library; each test program names its own (cmake/device_tests.cmake).
extern const char* const kFakeCudaPath;
