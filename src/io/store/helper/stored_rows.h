// Input: an open HDF5 file, and the type and shape with which this program writes a dataset.
// Output: the text attributes of its root; rows of such a dataset, byte by byte as they are stored.
// Guarantees: a dataset that has another type or shape, or whose bytes are in another file, is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/store/helper/dataset.h"

namespace millrace::hdf5::helper {

// Returns the names and values, each followed by a zero byte.
std::string attributes_of(const File& file);

class StoredRows {
 public:
  // `type`: result of H5Tencode() for the type that the program expects.
  StoredRows(const File& file, const std::string& name, const std::string& type, std::uint64_t rows,
             std::uint64_t row_bytes);
  void read(std::uint64_t first, std::uint64_t count, std::vector<std::uint8_t>& out) const;

 private:
  Handle set_, type_;
  std::vector<hsize_t> shape_;
  std::uint64_t row_bytes_ = 0;
};

}  // namespace millrace::hdf5::helper
