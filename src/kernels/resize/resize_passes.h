// The fast passes of Resizer, with weights packed for 16-bit multiplies.
//
// A 22-bit weight does not fit a 16-bit lane. It is written as high * 2^11 + low, which both fit, and two multiply-adds
// are summed separately. If every weight of an axis fits 16 bits (any reduction by more than about 128), one is enough.
// If every weight fits 17 bits (by more than 64), only the few middle taps that exceed 16 bits are added a second time.
// All sums are computed modulo 2^32, and the true sum fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/kernels/resize/resize.h"
#include "src/memory/buffer.h"

namespace millrace {

inline constexpr int kResizeLowBits = 11;

// Weights arranged for one long dot product per output.
struct DotWeights {
  static constexpr int kStep = 32;  // a multiple of every level's 16-bit lanes
  explicit DotWeights(const ResizeAxis& axis);
  std::size_t weight_count() const { return low.size(); }

  int in, out;
  std::vector<int> first, length;  // multiples of kStep, so that every load is aligned; padding has weight 0
  int stride = 0;
  Buffer<std::int16_t> low, high;
  bool split = false;                     // `high` has the factor 2^11, over the whole length
  std::vector<int> high_begin, high_end;  // otherwise `high` has the factor 1, in this part of the length, often empty
};

// Weights arranged in pairs of neighbouring inputs (2p, 2p + 1), for sums that run in parallel.
struct PairWeights {
  explicit PairWeights(const ResizeAxis& axis);
  std::size_t weight_count() const { return 2 * low.size(); }

  int in, out;
  std::vector<int> first_pair, pairs;
  int stride = 0;
  std::vector<std::int32_t> low, high;  // two 16-bit weights each
  bool split = false;
};

// Return the same object for the same sizes, as long as it is among the recently used ones.
std::shared_ptr<const DotWeights> dot_weights(const ResizeAxis& axis);
std::shared_ptr<const PairWeights> pair_weights(const ResizeAxis& axis);

// Number of rows that resize_strip processes at once.
inline constexpr int kStripRows = 16;

// Returns the 32-bit lanes of the passes' vectors, 1 in portable code: shows which level's code really runs.
int resize_vector_lanes();

// Number of rows that resize_rows processes at once. Each weight is loaded once for all of them, and as 16-bit numbers
// the rows still fit the first-level cache.
inline constexpr int kDotRows = 4;

// Returns the number of values that resize_rows needs in `scratch`, which begins at an aligned address.
std::size_t dot_scratch_needed(int width);

// Resizes `count` rows (1 to kDotRows) to axis.out pixels each.
void resize_rows(const std::uint8_t* const* rows, int count, int width, const DotWeights& weights,
                 std::int16_t* scratch, std::uint8_t* const* out);

// Resizes kStripRows rows at once to rows of `out` pixels. `turned` holds kStripRows * (width + 16) bytes and `columns`
// kStripRows * (out + 16) bytes; both begin at an aligned address.
void resize_strip(const std::uint8_t* const* rows, int width, const PairWeights& weights, int out, std::uint8_t* turned,
                  std::uint8_t* columns, std::uint8_t* const* out_rows);

// Computes output row `y` of a vertical pass from the rows of its pairs.
void resize_column_row(const std::uint8_t* const* rows, int width, const PairWeights& weights, int y,
                       std::uint8_t* out);

// Does sums[x] += weight * row[x].
void resize_accumulate(const std::uint8_t* row, int width, std::int32_t weight, std::int32_t* sums);

}  // namespace millrace
