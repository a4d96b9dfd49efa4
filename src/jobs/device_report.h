// Input: what a device did in a run.
// Output: lines for a person, and a key of the run's JSON.
// Never: keeps a device's failure to itself.
#pragma once

#include <string>
#include <vector>

#include "src/device/accelerator.h"

namespace millrace {

std::vector<std::string> words_of(const Accelerator& accelerator);
// What has to be said to whoever wants to hear nothing else; empty where all went well.
std::string trouble_of(const Accelerator& accelerator);

// The object that `pieces` are, with the key "device" behind its others; unchanged where no device was asked for.
// `note` is why the CPU stands for one.
std::vector<std::string> with_device(std::vector<std::string> pieces, const Accelerator* accelerator,
                                     const std::string& note);

}  // namespace millrace
