// Enters: HDF5 files of someone else's.
// Leaves: which datasets they have, what those are, and their numbers.
// Never: lets the HDF5 library look at such a file in this process: it crashes on some damaged ones, and it keeps state
// that a store being written in another thread would share. A helper, millrace-hdf5, reads them; its death is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/io/process/child.h"
#include "src/io/store/helper/protocol.h"

namespace millrace::hdf5 {

// What a dataset is.
struct Series {
  std::string name;
  std::vector<std::uint64_t> shape;  // one to three dimensions, none of them 0
  std::string words;                 // "float32 [300, 4]"
  Bytes memory;                      // what the helper holds while it reads it
};

// One helper, which reads one dataset after the other. Thread-safe: requests wait for each other.
class Reader {
 public:
  // What a helper takes before it has read anything.
  static constexpr Bytes kIdleMemory = 16_MiB;

  // `cancelled` is looked at while the helper works.
  explicit Reader(std::function<bool()> cancelled = {}) : cancelled_(std::move(cancelled)) {}

  // The names of all datasets; of no more than helper::kMostListed and one.
  Outcome<std::vector<std::string>> datasets(const std::string& path);
  // Of whole or floating numbers, all of them in this file. The reason where it is something else.
  Outcome<Series> describe(const std::string& path, const std::string& name);
  // Rows of `columns` values as doubles, in the order of the values. Throws Failure.
  void read(const std::string& path, const Series& series, std::size_t columns, std::uint64_t first, std::size_t count,
            double* out);

 private:
  struct Reply {
    helper::Answer about{};
    std::string text;
  };
  Outcome<Reply> ask(helper::Request request, const std::string& path, const std::string& name, double* values);
  // Why there was no answer. The helper is gone afterwards.
  Error obituary(const std::string& path);

  const std::function<bool()> cancelled_;
  std::mutex mutex_;
  std::unique_ptr<Child> helper_;
};

}  // namespace millrace::hdf5
