// Input: a kernel body that the build has compiled to PTX and kept as OpenCL C (cmake/bodies.cmake).
// Output: both texts, what they are known by, and how each of their kernels is called.
// Never: compiles anything.
#pragma once

#include <string_view>

namespace millrace {

// One kernel of a body. Tests compare it with the PTX.
struct KernelEntry {
  std::string_view name;
  unsigned threads = 0;         // of a block
  unsigned shared_bytes = 0;    // of a block
  std::string_view parameters;  // 'p' an array, '4' and '8' a number of so many bytes; in their order
  unsigned fused = 0;           // fused multiply-adds in its PTX; no other is one
};

struct KernelSource {
  std::string_view name;                  // of the body: "hamming"
  std::string_view ptx;                   // empty where the build had no compiler for it
  std::string_view opencl;                // OpenCL C, complete
  std::string_view hash;                  // SHA-256 of the PTX, in hexadecimal; empty without PTX
  bool singles = false, doubles = false;  // the floating numbers that it has
  std::string_view compiler;              // what made the PTX: "clang 14.0.6"
};

}  // namespace millrace
