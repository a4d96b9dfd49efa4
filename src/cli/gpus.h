// Input: the name of a device, or an empty one.
// Output: the selected GPUs.
// Never: opens a GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/device/device.h"

namespace millrace::cli {

// Returns the GPU with this name, or all usable GPUs of these kinds; `reasons` tell why the others cannot be used. A
// name that is no GPU throws Failure(usage); one that cannot be used throws Failure(unavailable).
std::vector<Device> select_gpus(const std::string& name, std::span<const DeviceKind> kinds,
                                std::vector<std::string>& reasons);

}  // namespace millrace::cli
