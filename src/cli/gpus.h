// Input: a device's name, or none.
// Output: the GPUs that are meant.
// Never: opens one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/device/device.h"

namespace millrace::cli {

// The one that is named, or all of these kinds that can be used; `reasons` say why others cannot. Failure(usage),
// Failure(unavailable) of one that is named.
std::vector<Device> gpus_of(const std::string& name, std::span<const DeviceKind> kinds,
                            std::vector<std::string>& reasons);

}  // namespace millrace::cli
