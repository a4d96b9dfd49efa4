// Input: a kernel body that the build has compiled to PTX and kept as OpenCL C (cmake/bodies.cmake).
// Output: both texts, their identifiers, and the signature of each kernel.
// Never: compiles anything.
#pragma once

#include <string_view>

namespace millrace {

// Signature of a kernel of a body. Tests compare these fields with the PTX.
struct KernelEntry {
  std::string_view name;
  unsigned threads = 0;         // per block
  unsigned shared_bytes = 0;    // per block
  std::string_view parameters;  // in order: 'p' for an array, '4' and '8' for a number of that many bytes
  unsigned fused = 0;           // number of fused multiply-adds in its PTX; all of them are written explicitly
};

struct KernelSource {
  std::string_view name;                  // name of the body: "hamming"
  std::string_view ptx;                   // empty if the build had no compiler for it
  std::string_view opencl;                // OpenCL C, complete
  std::string_view hash;                  // SHA-256 of the PTX, in hexadecimal; empty without PTX
  bool singles = false, doubles = false;  // floating-point types that it uses
  std::string_view compiler;              // compiler that made the PTX: "clang 14.0.6"
};

}  // namespace millrace
