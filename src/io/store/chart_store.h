// Enters: charts as compressed chunks, in order, with the numbers that they were drawn from.
// Leaves: one HDF5 file that any HDF5 reader opens with its own gzip filter.
// Never: compresses, or holds more than the block it was given.
//
// The file: `images` uint8 [N, H, W], a chunk a chart, deflate; `sequences` float32 [N, n] or [N, n, columns], as read;
// `labels` float32 [N, horizons]; `index`, a compound of file (uint32), row (uint64) and date (text); attributes. No
// times are kept in it: the same content gives the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"

namespace millrace {

// What a store holds.
struct ChartLayout {
  std::uint64_t charts = 0;
  std::uint32_t height = 0, width = 0;
  std::uint32_t window = 0, columns = 1;  // of `sequences`
  std::vector<std::int64_t> horizons;     // of `labels`; none: no labels
  std::uint32_t date_bytes = 0;           // the longest date; 0: no dates
  std::vector<std::pair<std::string, std::string>> attributes;
};

// Consecutive charts.
struct ChartBlock {
  struct Place {
    std::uint32_t file;
    std::uint64_t row;
    std::string date;
  };
  std::vector<std::uint8_t> chunks;        // zlib streams, one after the other
  std::vector<std::uint32_t> chunk_bytes;  // of each
  std::vector<float> sequences;            // [count, window, columns]
  std::vector<float> labels;               // [count, horizons]
  std::vector<Place> places;

  std::size_t count() const { return chunk_bytes.size(); }
  void clear();
};

// Writes a store under a name that is not its last one. Throws Failure; what is left behind then is to be removed. HDF5
// keeps state of its own: one thread of a process at a time.
class ChartStore {
 public:
  ChartStore(const std::string& path, const ChartLayout& layout);
  ~ChartStore();
  ChartStore(const ChartStore&) = delete;
  ChartStore& operator=(const ChartStore&) = delete;

  void append(const ChartBlock& block);
  // All charts of a finished store of the same layout, but for its number of charts: chunks go over as they are.
  void append_file(const std::string& path);
  // All charts were appended. The file is closed, not synced.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Attributes of a finished store by name; nothing where the file is not one.
Outcome<std::vector<std::pair<std::string, std::string>>> chart_store_attributes(const std::string& path);

// The version of the library, as "1.10.8".
std::string hdf5_version();

}  // namespace millrace
