// Input: the OpenCL drivers of this machine.
// Output: their devices, or the reason why there are none.
// Never: links OpenCL: its library is opened at run time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

struct OpenClDevice {
  std::string name, platform, driver;  // driver: its version
  Bytes memory;
  bool is_cpu = false;
  std::uintptr_t id = 0, platform_id = 0;  // handles of the driver
};

struct OpenClDevices {
  std::vector<OpenClDevice> devices;  // ordered by platform, and within a platform as it lists them
  std::string reason;                 // why there is none; empty if there is one
};

OpenClDevices find_opencl_devices();

}  // namespace millrace
