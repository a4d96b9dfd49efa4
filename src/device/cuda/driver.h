// Enters: whatever NVIDIA driver this machine has.
// Leaves: its devices, or the reason why there are none.
// Never: links CUDA: the driver's library is opened at run time.
#pragma once

#include <string>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

struct CudaDevice {
  std::string name;
  Bytes memory;
  int major = 0, minor = 0;  // compute capability
};

struct CudaDriver {
  std::vector<CudaDevice> devices;
  int version = 0;     // 12040 is CUDA 12.4
  std::string reason;  // why there is no device; empty when there is one
};

// Opens the driver as `library` and asks it. Tests hand in a library that is not there.
CudaDriver find_cuda_driver(const std::string& library = "libcuda.so.1");

}  // namespace millrace
