// Enters: a device.
// Leaves: whether its kernels find the pairs that the definition finds, of codes that are the same everywhere.
// Never: takes longer than some milliseconds.
#pragma once

#include "src/device/accelerator.h"

namespace millrace::hamming {

bool gives_known_answers(Accelerator& accelerator);

}  // namespace millrace::hamming
