// Input: the rows of series in memory.
// Output: their charts as pixels in memory, or as foreground runs.
// Never: keeps its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/chart/chart.h"
#include "src/kernels/chart/format.h"
#include "src/memory/object_pool.h"

namespace millrace::chart {

// Series one after the other. Each has the rows before its chart, then the rows of its chart. Each row has one number
// for each of price_columns_of().
struct SeriesArray {
  const void* data = nullptr;
  bool narrow = false;     // float32; otherwise float64
  std::size_t count = 0;   // number of series
  std::size_t before = 0;  // rows of each series before its chart
  // Ends of each scale, [count, 2], in host memory; like Window::lowest, and no price may lie outside. Null: each chart
  // has its own scale.
  const double* ends = nullptr;

  std::size_t bytes(const ChartSpec& spec) const {
    return (spec.rows + before) * price_columns_of(spec).size() * (narrow ? sizeof(float) : sizeof(double));
  }
  // Returns series [begin, end).
  SeriesArray part(const ChartSpec& spec, std::size_t begin, std::size_t end) const {
    const auto* const rows = static_cast<const std::uint8_t*>(data) + begin * bytes(spec);
    return {rows, narrow, end - begin, before, ends == nullptr ? nullptr : ends + 2 * begin};
  }
};

// Returns the maximum size of a series for charts of a kind, as float64.
inline std::uint64_t max_rows_bytes(const ChartSpec& spec) {
  return SeriesArray{nullptr, false, 0, spec.history(), nullptr}.bytes(spec);
}

// Returns the ends of these series' scales, one after the other; empty if none are given.
std::vector<double> scale_ends_of(const SeriesArray& series, std::span<const std::uint64_t> charts);

// Draws many charts of one kind at once; reuses its memory. Thread-safe. Throws Failure(cancelled) if the executor is
// cancelled; some charts may then be missing.
class SeriesPainters {
 public:
  // The format must outlive the object.
  SeriesPainters(const ChartSpec& spec, const Format& format);
  ~SeriesPainters();
  // Writes format.image_bytes() per chart, past the caches if there are many.
  void paint(const SeriesArray& series, const Executor& executor, std::uint8_t* out) const;
  // Calls body(number, image) for each stored image, on any thread.
  void each(const SeriesArray& series, const Executor& executor,
            const std::function<void(std::size_t, const rle::Image&)>& body) const;

 private:
  class One;
  const ChartSpec spec_;
  const Format& format_;
  mutable ObjectPool<One> painters_;
};

}  // namespace millrace::chart
