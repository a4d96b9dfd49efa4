// Input: a .safetensors file.
// Output: its tensors, with the offsets of their numbers.
// Never: accepts tensors that share bytes, or bytes that belong to no tensor.
//
// Source of the format: https://github.com/huggingface/safetensors, "Format".
#pragma once

#include <vector>

#include "src/io/tensor/random_access_source.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::safetensors {

// Lists the tensors in the order of the header. Throws ParseError: bad_data; unsupported for numbers of other types;
// too_large for a header over 16 MiB or more than 65,536 tensors.
std::vector<tensor_file::Tensor> list(RandomAccessSource& file);

}  // namespace millrace::safetensors
