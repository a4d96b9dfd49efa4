// Input: the values of a pickle that torch.save() wrote.
// Output: the tensors among them, with the storages that they lie in and the places there.
// Never: looks for the storages: where those are is the file's own business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/tensor/pickle.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::torch_file {

// A run of numbers that tensors share, as the pickle speaks of it.
struct Storage {
  std::string key;
  std::uint64_t elements = 0, element_bytes = 1;

  std::uint64_t bytes() const { return elements * element_bytes; }
};

// A tensor without its block.
struct Found {
  tensor_file::Tensor tensor;
  Storage storage;
};

// Each lies inside of its storage. In the order in which the values come. Throws Refusal: bad_data; unsupported for
// what is no plain tensor, a key that is neither text nor a number, or nesting above 64; too_large above 65,536
// tensors.
std::vector<Found> tensors_of(const pickle::Document& document);

}  // namespace millrace::torch_file
