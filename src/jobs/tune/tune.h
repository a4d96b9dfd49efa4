// Input: a device of this machine.
// Output: the speed of each operation on the device and on the CPU, as data.
// Never: takes much longer than a minute per device.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/device/cpu/executor.h"
#include "src/jobs/tune/rates_file.h"

namespace millrace::tune {

// Throws Failure(unavailable) with the reason if the device cannot be used or gives wrong answers.
DeviceMeasurement measure(const Device& device, const Executor& executor, Bytes memory);

// Returns a table for the user: for each operation both rates, their ratio, and the amount of work from which on the
// device is faster.
std::string text_of(const DeviceMeasurement& tuned);
Json json_of(const std::vector<DeviceMeasurement>& all);

}  // namespace millrace::tune
