// Input: whatever OpenCL drivers this machine has.
// Output: their devices, or the reason why there are none.
// Never: links OpenCL: its library is opened at run time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

struct OpenClDevice {
  std::string name, platform, driver;  // the driver's version
  Bytes memory;
  bool is_cpu = false;
  std::uintptr_t id = 0, platform_id = 0;  // the driver's
};

struct OpenClDevices {
  std::vector<OpenClDevice> devices;  // in the order of platforms, and of each platform's devices
  std::string reason;                 // why there is none; empty when there is one
};

OpenClDevices find_opencl_devices();

}  // namespace millrace
