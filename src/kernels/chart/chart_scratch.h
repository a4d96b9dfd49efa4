// Input: the kind of charts, and the number that is drawn at once.
// Output: the device memory that their kernels need, initialised where they require it.
// Never: used from outside this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/device/queue.h"
#include "src/kernels/chart/chart.h"
#include "src/kernels/chart/format.h"

namespace millrace::chart {

// Limits: pixels of a row that fit a block's memory; rows of a chart; numbers summed by its moving average.
// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr int kMaxWidth = 6141;
inline constexpr std::size_t kMaxRows = 1 << 16, kMaxSums = std::size_t{1} << 26;

class ChartScratch {
 public:
  // Allocates memory for `charts` charts. Throws OutOfMemory if the device has too little.
  ChartScratch(const ChartSpec& spec, const Format& format, std::size_t before, bool narrow, std::uint64_t charts,
               Accelerator& accelerator, Queue& queue);
  bool holds(std::uint64_t charts, std::size_t before, bool narrow) const {
    return charts <= charts_ && before == before_ && narrow == narrow_;
  }
  std::uint64_t charts() const { return charts_; }
  // Returns how many charts fit half of the device's free memory, at most `most`, if each needs `bytes_each` more
  // bytes.
  static std::uint64_t max_charts(const ChartSpec& spec, Accelerator& accelerator, std::uint64_t bytes_each,
                                  std::uint64_t most);

  // Prepares a batch. `aligned`: images begin at a multiple of four bytes. `is_fixed`: the ends of scales are given.
  void begin(Queue& queue, std::uint64_t charts, bool aligned, bool is_fixed);
  // Records that `blocks` blocks of this kernel were launched.
  void expect(const KernelEntry& entry, std::uint64_t blocks);
  // Waits for the batch and returns the charts that kernels gave up. Throws Failure(internal) if blocks were left out.
  std::vector<std::uint64_t> given_up(Queue& queue, std::uint64_t charts);

  std::uint64_t layers = 1, bands = 1;
  DeviceBuffer<std::int32_t> spec, places, heights, slants, corners, tiles, edges;
  DeviceBuffer<std::uint32_t> table, piece_legs, spans, piece_of, counts, tile_rows, edge_counts, part_rows, state,
      done;
  DeviceBuffer<double> reals, values, scale_ends, ys, normals, begins, ends, slant_reals, no_reals;
  DeviceBuffer<float> no_singles;
  GrowingBuffer<std::uint8_t> series, images;  // copies of host arrays
  GrowingBuffer<double> fixed;                 // ends of scales

 private:
  ChartScratch() = default;
  // Calls take(array, number of elements per chart, purpose).
  template <typename Take>
  void each_array(const ChartSpec& spec, const Take& take);

  std::uint64_t charts_ = 0;
  std::size_t before_ = 0;
  bool narrow_ = false;
  std::vector<std::int32_t> numbers_;  // values of `spec`
  std::vector<std::uint32_t> expected_;
  bool sent_ = false;
};

}  // namespace millrace::chart
