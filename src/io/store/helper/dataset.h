// Input: an HDF5 file of someone else's, open.
// Output: the names of its datasets, what one of them is, and its numbers as doubles.
// Never: follows a link into another file: what decides an output must be in the file that was hashed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/store/hdf5_handle.h"

namespace millrace::hdf5::helper {

class File {
 public:
  // Throws Failure, as all of these do. The descriptor stays the caller's.
  explicit File(int fd);
  // No more than kMostListed and one.
  std::vector<std::string> datasets() const;
  hid_t id() const { return file_.get(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Handle file_;
  std::uint64_t bytes_ = 0;
};

// Whole or floating numbers in one to three dimensions, all of them written, in this file.
class Dataset {
 public:
  Dataset(const File& file, const std::string& name);
  const std::vector<std::uint64_t>& shape() const { return shape_; }
  // "float32 [300, 4]"
  std::string words() const;
  // What a row of chunks takes, uncompressed.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }

  // Rows of `columns` values, in the order of the values.
  void read(std::uint64_t columns, std::uint64_t first, std::uint64_t count, std::vector<double>& out) const;

 private:
  // Opens it, with room for so many bytes of its chunks. A link into another file is not followed but named.
  void open(const File& file, std::uint64_t room = 0, double chunks = 0);
  void check_storage(const File& file, const Handle& how);
  void read_part(const std::vector<hsize_t>& start, const std::vector<hsize_t>& count, double* out) const;

  std::string name_;
  Handle set_, type_, space_;
  std::vector<std::uint64_t> shape_;
  std::uint64_t chunk_bytes_ = 0;
};

}  // namespace millrace::hdf5::helper
