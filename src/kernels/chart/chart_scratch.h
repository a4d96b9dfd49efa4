// Input: the kind of charts, and how many are drawn at once.
// Output: what their kernels need of a device's memory, filled where it has to be before they begin.
// Never: used from outside this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/device/queue.h"
#include "src/kernels/chart/chart.h"
#include "src/kernels/chart/format.h"

namespace millrace::chart {

// What a block's memory holds of a row; rows of a chart; numbers that its moving average sums.
inline constexpr int kMostWidth = 6141;
inline constexpr std::size_t kMostRows = 1 << 16, kMostSums = std::size_t{1} << 26;

class Scratch {
 public:
  // Room for so many charts. OutOfMemory where the device has not enough.
  Scratch(const Spec& spec, const Format& format, std::size_t before, bool narrow, std::uint64_t charts,
          Accelerator& accelerator, Queue& queue);
  bool holds(std::uint64_t charts, std::size_t before, bool narrow) const {
    return charts <= charts_ && before == before_ && narrow == narrow_;
  }
  std::uint64_t charts() const { return charts_; }
  // How many charts half of what the device has free is for, at most `most`, with so many bytes more each.
  static std::uint64_t most_charts(const Spec& spec, Accelerator& accelerator, std::uint64_t bytes_each,
                                   std::uint64_t most);

  // What a batch begins with; `aligned`: images begin at a multiple of four bytes; `is_fixed`: ends of scales are
  // given.
  void begin(Queue& queue, std::uint64_t charts, bool aligned, bool is_fixed);
  // So many blocks of this kernel were launched.
  void expect(const KernelEntry& entry, std::uint64_t blocks);
  // Waits for the batch. Failure(internal) where blocks are missing; else which charts kernels have given up.
  std::vector<std::uint64_t> given_up(Queue& queue, std::uint64_t charts);

  std::uint64_t layers = 1, bands = 1;
  DeviceBuffer<std::int32_t> spec, places, heights, slants, corners, tiles, edges;
  DeviceBuffer<std::uint32_t> table, piece_legs, spans, piece_of, counts, tile_rows, edge_counts, part_rows, state,
      done;
  DeviceBuffer<double> reals, values, scale_ends, ys, normals, begins, ends, slant_reals, no_reals;
  DeviceBuffer<float> no_singles;
  GrowingBuffer<std::uint8_t> series, images;  // of the host
  GrowingBuffer<double> fixed;                 // ends of scales

 private:
  Scratch() = default;
  // take(array, how many for a chart, what for).
  template <typename Take>
  void each_array(const Spec& spec, const Take& take);

  std::uint64_t charts_ = 0;
  std::size_t before_ = 0;
  bool narrow_ = false;
  std::vector<std::int32_t> numbers_;  // as `spec` has them
  std::vector<std::uint32_t> expected_;
  bool sent_ = false;
};

}  // namespace millrace::chart
