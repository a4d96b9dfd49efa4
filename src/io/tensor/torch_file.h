// Input: a file that torch.save() wrote: a zip archive, or one pickle after the other, as before PyTorch 1.6.
// Output: its tensors, with the offsets of their numbers.
// Never: reads the numbers.
#pragma once

#include <vector>

#include "src/io/tensor/random_access_source.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::torch_file {

// Throws ParseError.
std::vector<tensor_file::Tensor> list(RandomAccessSource& file);

}  // namespace millrace::torch_file
