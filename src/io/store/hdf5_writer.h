// Input: rows of a dataset, in order; rows of compressed arrays as chunks.
// Output: one HDF5 file that any HDF5 reader opens with its own gzip filter.
// Never: compresses, or holds more than the block that it was given.
//
// The file has a dataset per array, of shape [rows, ...]. Compressed datasets have chunks of one row with the deflate
// filter; others are contiguous. Texts are as long as the longest, padded with zeros. The columns of a table are the
// fields of one compound type. The attributes of the dataset are texts at the root. No times are stored: the same rows
// give the same bytes, whatever blocks they come in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "src/base/error.h"
#include "src/io/store/dataset.h"
#include "src/io/store/hdf5_reader.h"

namespace millrace {

// Writes a file as NAME.part, or a shard under a unique temporary name, and renames it in the end. Throws Failure. HDF5
// keeps global state: only one thread of a process may use this class at a time, except for commit().
class Hdf5Writer : public ShardWriter {
 public:
  // A shard of a mapped file whose shards have `each` rows. If this shard has as many, its compressed array also has
  // the name "whole".
  struct Shard {
    std::uint64_t each;
  };
  // The compressed array is a virtual dataset of 0.h5, 1.h5 and so on in a folder beside the file, `each` rows apart.
  // If one of them is missing, the dataset ends before its rows.
  struct Mapped {
    std::string folder;
    std::uint64_t each;
  };
  using Kind = std::variant<std::monostate, Shard, Mapped>;
  // At most one array is compressed if the file is a shard, or maps shards.
  Hdf5Writer(std::string path, const DatasetSpec& spec, const Kind& kind = {});
  // Removes a file that has not got its name, unless keep_temporary_file() was called.
  ~Hdf5Writer() override;
  void keep_temporary_file();

  void append(const RowBlock& block) override;
  // Copies `rows` rows of a finished file with the same arrays, except compressed arrays; for a file that maps them.
  // `reader` reads the file, because it may be somebody else's.
  void append_rest(hdf5::DatasetReader& reader, const std::string& path, std::uint64_t rows);
  // Closes the file, with its end line (src/io/store/end_line.h), and does not sync it.
  void finish() override {
    finish([] {});
  }
  // `check_cancelled` is called now and then, and may throw.
  void finish(const std::function<void()>& check_cancelled);
  // Failure(conflict) if another run has taken the temporary name meanwhile.
  void commit() override;
  // Returns the digest of the finished file. finish() reads it from the disk, as the library writes in no fixed order.
  std::vector<FileDigest> digests() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the version of the library, such as "1.10.8".
std::string hdf5_version();

}  // namespace millrace
