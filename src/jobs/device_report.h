// Input: an accelerator's statistics of a run.
// Output: lines for the user, and the key "device" of the run's JSON.
// Never: hides a device's failure.
#pragma once

#include <string>
#include <vector>

#include "src/device/accelerator.h"

namespace millrace {

std::vector<std::string> words_of(const Accelerator& accelerator);
// Returns the warning to show even if all other text is suppressed; empty if the device did not fail.
std::string make_device_warning(const Accelerator& accelerator);

// Adds the key "device" after all other keys of the object; returns `strings` unchanged if no device was requested.
// `note` is the reason why the CPU replaces a requested device.
std::vector<std::string> add_device_key(std::vector<std::string> strings, const Accelerator* accelerator,
                                        const std::string& note);

}  // namespace millrace
