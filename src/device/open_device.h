// Input: a listed device.
// Output: its driver, ready to work with the device.
// Never: opens a second context of a device in this process: other users of the first one share it.
#pragma once

#include <memory>

#include "src/device/backend.h"
#include "src/device/device.h"

namespace millrace {

// Throws Failure(unavailable) if the device cannot be used.
std::unique_ptr<DeviceBackend> open_device(const Device& device);

std::unique_ptr<DeviceBackend> open_cuda_device(int index);
std::unique_ptr<DeviceBackend> open_opencl_device(int index, bool assume_exact);

}  // namespace millrace
