// Enters: nothing.
// Leaves: what a store of charts holds, charts on their way into one, and the part of a store that is written at once.
// Never: knows how a store lies on the disk.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace millrace {

// Of `count` things of this shape.
template <typename Size>
std::vector<Size> with_count(std::uint64_t count, const std::vector<Size>& rest) {
  std::vector<Size> out{count};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// Name and value, as text.
using Attributes = std::vector<std::pair<std::string, std::string>>;

struct ChartLayout {
  std::uint64_t charts = 0;
  std::vector<std::uint64_t> image;       // of one chart: [H, W], [H, W, 3], or [H, (W + 7) / 8] for bits
  bool floats = false;                    // 32 bits a value; else bytes
  std::uint32_t window = 0, columns = 1;  // of `sequences`
  std::vector<std::int64_t> horizons;     // of `labels`; none: no labels
  std::uint32_t symbol_bytes = 0;         // of `index`: the longest symbol; 0: no symbols
  std::uint32_t date_bytes = 0;           // the longest date; 0: no dates
  Attributes attributes;

  std::uint64_t image_bytes() const {
    std::uint64_t out = floats ? 4 : 1;
    for (const std::uint64_t side : image) out *= side;
    return out;
  }
  // Of one chart's sequence: [n] or [n, columns].
  std::vector<std::uint64_t> sequence() const {
    return columns > 1 ? std::vector<std::uint64_t>{window, columns} : std::vector<std::uint64_t>{window};
  }
};

// Consecutive charts.
struct ChartBlock {
  // Of a window: where it lies, and when.
  struct Place {
    std::uint32_t file;
    std::uint64_t row;           // its first, of its series
    std::string symbol;          // of its series
    std::string date, end_date;  // of its first row and of its last, as they were written
    std::int64_t end_time;       // of the last: nanoseconds since 1970-01-01 UTC, or the least number: not known
  };
  std::vector<std::uint8_t> images;        // as the store keeps them, one after the other
  std::vector<std::uint32_t> image_bytes;  // of each
  std::vector<float> sequences;            // [count, window, columns], as read
  std::vector<float> labels;               // [count, horizons]
  std::vector<Place> places;

  std::size_t count() const { return places.size(); }
  void clear() {
    images.clear();
    image_bytes.clear();
    sequences.clear();
    labels.clear();
    places.clear();
  }
};

// Consecutive charts of a store, written at once: a shard. Throws Failure; what is left behind then is not under the
// shard's name.
class ChartSink {
 public:
  ChartSink() = default;
  virtual ~ChartSink() = default;
  ChartSink(const ChartSink&) = delete;
  ChartSink& operator=(const ChartSink&) = delete;

  virtual void append(const ChartBlock& block) = 0;
  // All charts were appended.
  virtual void finish() = 0;
  // After finish(), and on any thread: the shard is on the disk and has its name.
  virtual void commit() = 0;
};

}  // namespace millrace
