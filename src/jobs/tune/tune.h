// Input: the devices of this machine.
// Output: how fast each operation is on each of them, and on the CPU, as data.
// Never: takes much longer than a minute a device.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/device/cpu/executor.h"
#include "src/jobs/tune/rates_file.h"

namespace millrace::tune {

// Failure(unavailable) with the reason where the device cannot be used or gives wrong answers.
Tuned measure(const Device& device, const Executor& executor, Bytes memory);

// A table for a person: of each operation both rates, their ratio, and the work from which on the device gains.
std::string text_of(const Tuned& tuned);
Json json_of(const std::vector<Tuned>& all);

}  // namespace millrace::tune
