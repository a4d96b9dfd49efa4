// Input: the measured rates of devices.
// Output: a file with these rates in the user's cache folder, and the rates read back from it.
// Never: trusts an invalid rate: a file that is damaged, or whose rates belong to other kernels, counts as no
//   measurement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "src/device/routing.h"
#include "src/kernels/test_vectors/devices.h"

namespace millrace::tune {

// Measurements of one device.
struct DeviceMeasurement {
  Device device;
  DeviceRates rates;
  std::vector<MeasuredRate> operations;
};

// Returns the file's path; empty if no home folder is known.
std::string rates_path();

// Replaces earlier measurements of the same devices; those of other devices are kept.
void store_rates(const std::vector<DeviceMeasurement>& tuned);

// Returns the rates of a device; nothing if it was not measured. Rates of kernels that differ from this build's are
// skipped.
std::optional<DeviceRates> read_rates(const Device& device);

}  // namespace millrace::tune
