// Input: rows of a dataset, in order, those of compressed arrays as chunks.
// Output: one HDF5 file that any HDF5 reader opens with its own gzip filter.
// Never: compresses, or holds more than the block it was given.
//
// The file: a dataset an array, [rows, ...]: compressed ones in chunks of a row with the deflate filter, others
// contiguous; texts as long as the longest, padded with zeros; the columns of a table as the fields of one compound;
// the attributes of the dataset as texts at the root. No times are kept in it: the same rows give the same bytes,
// whatever blocks they come in.
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

// Writes a file as NAME.part, and gives it its name in the end. Throws Failure. HDF5 keeps state of its own: one
// thread of a process at a time, but for commit().
class Hdf5Writer : public PartWriter {
 public:
  // A part of others that have `each` rows, for a file that maps them: a compressed array has the name "whole" too
  // where the part is as large as the others.
  struct Part {
    std::uint64_t each;
  };
  // The compressed array is a virtual dataset of 0.h5, 1.h5 and so on in a folder beside the file, `each` rows apart.
  // Where one is missing, the dataset ends before its rows.
  struct Mapped {
    std::string folder;
    std::uint64_t each;
  };
  using Kind = std::variant<std::monostate, Part, Mapped>;
  // No more than one array is compressed where it is a part, or maps parts.
  Hdf5Writer(std::string path, const DatasetSpec& spec, const Kind& kind = {});
  // What has not got its name is removed, unless it was to be kept.
  ~Hdf5Writer() override;
  void keep_unfinished();

  void append(const RowBlock& block) override;
  // Copies `rows` of a finished file of the same arrays, but those of compressed ones; for a file that maps them. The
  // file is read by `reader`: it may be somebody else's.
  void append_rest(hdf5::Reader& reader, const std::string& path, std::uint64_t rows);
  // The file is closed, with its end line (src/io/store/end_line.h), and not synced.
  void finish() override {
    finish([] {});
  }
  // `go_on` is asked now and then, and may throw.
  void finish(const std::function<void()>& go_on);
  // Failure(conflict) where another run has taken its temporary name meanwhile.
  void commit() override;
  // The digest of the finished file, taken from the disk by finish(): the library writes in no order.
  std::vector<FileDigest> digests() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The version of the library, as "1.10.8".
std::string hdf5_version();

}  // namespace millrace
