// Input: what was measured of devices.
// Output: the same in the cache of the person who measured it, and back from there.
// Never: believes what is no rate: a file that is damaged, or of other kernels, is as if nothing had been measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "src/device/routing.h"
#include "src/kernels/known/devices.h"

namespace millrace::tune {

// Of one device.
struct Tuned {
  Device device;
  DeviceRates rates;
  std::vector<MeasuredRate> operations;
};

// "" where no home folder is known.
std::string rates_path();

// Replaces what was measured of the same devices before; of others it stays.
void keep(const std::vector<Tuned>& tuned);

// Nothing where this device was not measured with the kernels of this build.
std::optional<DeviceRates> rates_of(const Device& device);

}  // namespace millrace::tune
