// Enters: what a device did in a run.
// Leaves: lines for a person, and a key of the run's JSON.
// Never: keeps a device's failure to itself.
#pragma once

#include <string>
#include <vector>

#include "src/device/accelerator.h"

namespace millrace::cli {

std::vector<std::string> words_of(const Accelerator& accelerator);

// The object that `pieces` are, with the key "device" behind its others; unchanged without an accelerator.
std::vector<std::string> with_device(std::vector<std::string> pieces, const Accelerator* accelerator);

}  // namespace millrace::cli
