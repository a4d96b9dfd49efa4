// Input: the rows of series that lie in memory.
// Output: their charts' pixels in memory, or the charts as runs of ink.
// Never: keeps what it was given.
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
#include "src/memory/pool.h"

namespace millrace::chart {

// Series one after the other: of each the rows that lie before its chart, and its chart's; of each row a number for
// each of roles_of().
struct SeriesArray {
  const void* data = nullptr;
  bool narrow = false;     // float32; else float64
  std::size_t count = 0;   // series
  std::size_t before = 0;  // rows of each that lie before its chart
  // The ends of each one's scale, [count, 2], in the host's memory; as Window::lowest, and no price lies outside. None:
  // all are their own.
  const double* ends = nullptr;

  std::size_t bytes(const Spec& spec) const {
    return (spec.rows + before) * roles_of(spec).size() * (narrow ? sizeof(float) : sizeof(double));
  }
  // Series [begin, end).
  SeriesArray part(const Spec& spec, std::size_t begin, std::size_t end) const {
    const auto* const rows = static_cast<const std::uint8_t*>(data) + begin * bytes(spec);
    return {rows, narrow, end - begin, before, ends == nullptr ? nullptr : ends + 2 * begin};
  }
};

// What a series of charts of a kind has at most, float64.
inline std::uint64_t most_rows_bytes(const Spec& spec) {
  return SeriesArray{nullptr, false, 0, spec.history(), nullptr}.bytes(spec);
}

// The ends of these series' scales, one after the other; nothing where none are given.
std::vector<double> ends_of(const SeriesArray& series, std::span<const std::uint64_t> charts);

// Draws charts of one kind, many at once; holds what it needs for that. Thread-safe. Failure(cancelled) where the
// executor is: then some may have been left out.
class SeriesPainters {
 public:
  // The format outlives it.
  SeriesPainters(const Spec& spec, const Format& format);
  ~SeriesPainters();
  // format.image_bytes() a chart are written, past the caches where they are many.
  void paint(const SeriesArray& series, const Executor& executor, std::uint8_t* out) const;
  // The picture of each, as it is stored, on any thread: body(number, picture).
  void each(const SeriesArray& series, const Executor& executor,
            const std::function<void(std::size_t, const rle::Image&)>& body) const;

 private:
  class One;
  const Spec spec_;
  const Format& format_;
  mutable Pool<One> painters_;
};

}  // namespace millrace::chart
