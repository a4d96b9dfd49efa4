// Input: a device that is listed.
// Output: its driver ready to work with it.
// Never: opens a second context of a device that this process has one of: what others in it use is shared.
#pragma once

#include <memory>

#include "src/device/backend.h"
#include "src/device/device.h"

namespace millrace {

// Failure(unavailable) where it cannot be used.
std::unique_ptr<DeviceBackend> open_device(const Device& device);

std::unique_ptr<DeviceBackend> open_cuda_device(int index);
std::unique_ptr<DeviceBackend> open_opencl_device(int index, bool assume_exact);

}  // namespace millrace
