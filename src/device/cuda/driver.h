// Input: the NVIDIA driver of this machine.
// Output: its devices, or the reason why there are none.
// Never: links CUDA: the driver's library is opened at run time. The driver itself applies CUDA_VISIBLE_DEVICES.
#pragma once

#include <string>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

struct CudaDevice {
  std::string name;
  Bytes memory;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0, clock_khz = 0;
  std::string uuid;  // "GPU-8f5a..."; empty if the driver is too old to provide it
  int ordinal = 0;   // the driver's number: devices that do not answer are skipped
};

struct CudaDriver {
  std::vector<CudaDevice> devices;
  int version = 0;     // 12040 means CUDA 12.4
  std::string build;   // "550.54.14", as the kernel module reports; else size and time of the library
  std::string reason;  // why there is no device; empty if there is one
};

inline constexpr const char* kCudaLibrary = "libcuda.so.1";
inline constexpr const char* kCudaBuildFile = "/proc/driver/nvidia/version";

// Opens the driver `library` and lists its devices. Tests pass a missing library, and a build file of their own.
CudaDriver find_cuda_driver(const std::string& library = kCudaLibrary, const std::string& build_file = kCudaBuildFile);

}  // namespace millrace
