// Enters: charts as compressed chunks, in order, with the numbers that they were drawn from.
// Leaves: one HDF5 file that any HDF5 reader opens with its own gzip filter.
// Never: compresses, or holds more than the block it was given.
//
// The file: `images`, uint8 or float32 [N, H, W] or [N, H, W, 3], a chunk a chart, deflate; `sequences` float32 [N, n]
// or [N, n, columns], as read; `labels` float32 [N, horizons]; `index`, a compound of file (uint32), row (uint64) and
// date (text); attributes. No times are kept in it: the same content gives the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "src/base/error.h"
#include "src/io/store/chart_block.h"

namespace millrace {

// Writes a store as NAME.part, and gives it its name in the end. Throws Failure. HDF5 keeps state of its own: one
// thread of a process at a time, but for commit().
class ChartStore : public ChartSink {
 public:
  // A shard of others that have `each` charts, for a store that maps them: `images` has the name `whole` too where the
  // shard is as large as the others.
  struct Shard {
    std::uint64_t each;
  };
  // `images` is a virtual dataset of 0.h5, 1.h5 and so on in a folder beside the store, `each` charts apart. Where one
  // is missing, the dataset ends before its charts.
  struct Mapped {
    std::string folder;
    std::uint64_t each;
  };
  using Kind = std::variant<std::monostate, Shard, Mapped>;
  ChartStore(std::string path, const ChartLayout& layout, Kind kind = {});
  // What has not got its name is removed, unless it was to be kept.
  ~ChartStore() override;
  void keep_unfinished();

  void append(const ChartBlock& block) override;
  // All that a finished store of the same layout, but for its number of charts, has beside images; for one that maps
  // them.
  void append_tables(const std::string& path);
  // The file is closed, not synced.
  void finish() override;
  void commit() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Attributes of a finished store by name; nothing where the file is not one.
Outcome<Attributes> chart_store_attributes(const std::string& path);

// The version of the library, as "1.10.8".
std::string hdf5_version();

}  // namespace millrace
