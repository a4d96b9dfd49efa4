// Input: an open HDF5 file that may come from anybody.
// Output: the names of its datasets, the description of one of them, and its numbers as doubles.
// Never: follows a link into another file: the data of an output must be in the file that was hashed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/store/hdf5_handle.h"

namespace millrace::hdf5::helper {

class File {
 public:
  // Throws Failure, as all functions here do. The caller keeps ownership of the descriptor.
  explicit File(int fd);
  // Returns at most kMaxListed + 1 names.
  std::vector<std::string> datasets() const;
  hid_t id() const { return file_.get(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Handle file_;
  std::uint64_t bytes_ = 0;
};

// A dataset of integers or floating-point numbers in one to three dimensions, all of them written, in this file.
class Dataset {
 public:
  Dataset(const File& file, const std::string& name);
  const std::vector<std::uint64_t>& shape() const { return shape_; }
  // Returns type and shape, such as "float32 [300, 4]".
  std::string words() const;
  // Bytes of a row of chunks, decompressed.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }

  // Reads rows of `columns` values, in stored order.
  void read(std::uint64_t columns, std::uint64_t first, std::uint64_t count, std::vector<double>& out) const;

 private:
  // Opens the dataset with a chunk cache of `room` bytes. A link into another file is refused, and its target is named.
  void open(const File& file, std::uint64_t room = 0, double chunks = 0);
  void check_storage(const File& file, const Handle& how);
  void read_hyperslab(const std::vector<hsize_t>& start, const std::vector<hsize_t>& count, double* out) const;

  std::string name_;
  Handle set_, type_, space_;
  std::vector<std::uint64_t> shape_;
  std::uint64_t chunk_bytes_ = 0;
};

}  // namespace millrace::hdf5::helper
