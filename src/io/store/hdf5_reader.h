// Input: HDF5 files of someone else's, open.
// Output: which datasets they have, what those are, and their numbers; of a file that a run of this program has
// written, its
//   attributes and its rows.
// Never: lets the HDF5 library look at such a file in this process: it crashes on some damaged ones, and it keeps state
// that a store being written in another thread would share. A helper, millrace-hdf5, is given their descriptors and
// reads them; its death is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/io/file/place.h"
#include "src/io/file/reader.h"
#include "src/io/process/child.h"
#include "src/io/store/dataset.h"
#include "src/io/store/helper/protocol.h"

namespace millrace::hdf5 {

// Which file: its name, and how it looked when it was opened.
struct Opened {
  std::string path;
  FileState state;
};

// What a dataset is.
struct Series {
  Opened file;
  std::string name;
  std::vector<std::uint64_t> shape;  // one to three dimensions, none of them 0
  std::string words;                 // "float32 [300, 4]"
  Bytes memory;                      // what the helper holds while it reads it
};

// A dataset as a run of this program writes it: contiguous, in the file itself.
struct StoredDataset {
  std::string name;
  std::string type;  // what H5Tencode() makes of its type
  std::uint64_t rows = 0, row_bytes = 0;
};

// One helper, which reads one dataset after the other. Thread-safe: requests wait for each other.
class Reader {
 public:
  // What a helper takes before it has read anything.
  static constexpr Bytes kIdleMemory = 16_MiB;

  // `cancelled` is looked at while the helper works. No series takes more than `most`; 0: it may be any.
  explicit Reader(std::function<bool()> cancelled = {}, Bytes most = {})
      : cancelled_(std::move(cancelled)), most_(most) {}

  // Has its helper ready: before work whose outcome is to be read, of a file `path` that may not be there yet.
  Outcome<void> start(const std::string& path);
  // The names of all datasets; of no more than helper::kMostListed and one.
  Outcome<std::vector<std::string>> datasets(const FileReader& file);
  // Of whole or floating numbers, all of them in this file. The reason where it is something else.
  Outcome<Series> describe(const FileReader& file, const std::string& name);
  // Rows of `columns` values as doubles, in the order of the values. Throws Failure. The file need not be open any
  // more, as inputs may be more than descriptors; where it must be opened again, it is the one that was described, or
  // refused.
  void read(const Series& series, std::size_t columns, std::uint64_t first, std::size_t count, double* out);
  // The texts among the attributes of its root, by name.
  Outcome<Attributes> attributes(const FileReader& file);
  // Rows of such a dataset; no more than helper::kMaxRowBytes of them. Throws Failure where it is another.
  void read_stored(const FileReader& file, const StoredDataset& what, std::uint64_t first, std::uint64_t count,
                   std::vector<std::uint8_t>& out);

 private:
  struct Reply {
    helper::Answer about{};
    std::string text;
  };
  // Buffers for an answer's numbers or rows.
  struct Room {
    double* values = nullptr;
    std::vector<std::uint8_t>* rows = nullptr;
  };
  // With mutex_ held.
  Outcome<void> have_helper(const std::string& path);
  Outcome<Reply> ask(helper::Request request, const Opened& file, const FileReader* open, const std::string& name,
                     const std::string& type, const Room& room);
  // Sends the request, and the file where the helper does not have it.
  Outcome<void> send(const helper::Request& request, const Opened& file, const FileReader* open,
                     const std::string& name, const std::string& type);
  // Why there was no answer. The helper is gone afterwards.
  Error exit_reason(const std::string& path);

  const std::function<bool()> cancelled_;
  const Bytes most_;
  std::mutex mutex_;
  std::unique_ptr<Child> helper_;
  std::optional<Opened> given_;  // what this helper has
};

// Attributes of a file by its path. An error where it is no HDF5 file, is not a file, or nothing can read it here.
Outcome<Attributes> attributes_of(Reader& reader, const std::string& path);

}  // namespace millrace::hdf5
