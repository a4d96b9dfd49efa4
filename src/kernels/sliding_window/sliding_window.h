// Input: an image's sides, and a network's result for each of its windows.
// Output: the positions of windows, and their results blended into one, row by row from the top.
// Never: holds more rows of the result than a window has; runs a network, or reads a picture.
//
// Source: MONAI 1.6, monai.inferers.sliding_window_inference and monai.data.utils (dense_patch_slices,
// compute_importance_map), to the letter: float32 sums of the network's raw outputs, in the order of windows, row after
// row; the product of weight and result is rounded before it is added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/base/choice.h"
#include "src/memory/buffer.h"

namespace millrace::window {

// Weight of a result: the same everywhere, or most in the middle of its window, with a standard deviation of an eighth
// of it.
enum class Importance : std::uint8_t { gaussian, constant };
constexpr std::array<Choice<Importance>, 2> choices_of(Importance) {
  return {{{"gaussian", Importance::gaussian}, {"constant", Importance::constant}}};
}
// Padding of an image that is smaller than a window. `reflect` mirrors the image about its outermost pixels, `constant`
// is zeros of the network's input, `replicate` repeats the outermost pixels, and `circular` takes the other end.
enum class Padding : std::uint8_t { reflect, constant, replicate, circular };
constexpr std::array<Choice<Padding>, 4> choices_of(Padding) {
  return {{{"reflect", Padding::reflect},
           {"constant", Padding::constant},
           {"replicate", Padding::replicate},
           {"circular", Padding::circular}}};
}

// Axis of an image, cut into windows.
class WindowAxis {
 public:
  // 1 <= window; 0 <= overlap < 1, a share of the window.
  WindowAxis(std::int64_t size, std::int64_t window, double overlap);

  std::int64_t size() const { return size_; }      // length of the image
  std::int64_t padded() const { return padded_; }  // length with padding, at least a window
  std::int64_t before() const { return before_; }  // padding before the image
  std::int64_t window() const { return window_; }
  // Starts of windows, along the padded axis; the last window ends with it.
  const std::vector<std::int64_t>& starts() const { return starts_; }
  // Returns the windows that [from, to) lies in, wholly or in part: the first of them, and the one behind the last.
  std::pair<std::size_t, std::size_t> covering(std::int64_t from, std::int64_t to) const;

  // Returns the element of the image that lies at `at` of the padded axis; -1 where it is zero.
  std::int64_t source(std::int64_t at, Padding padding) const;
  // True if the image is large enough for this padding: elements that are mirrored or repeated must exist.
  bool can_pad(Padding padding) const;

 private:
  std::int64_t size_, window_, padded_, before_;
  std::vector<std::int64_t> starts_;
};

// weight(i, j) = max(row[i] * column[j], least), which is 1 where all count the same.
class WindowWeights {
 public:
  WindowWeights(Importance importance, std::int64_t height, std::int64_t width);

  float row(std::size_t i) const { return rows_[i]; }
  const float* columns() const { return columns_.data(); }
  float least() const { return least_; }

 private:
  std::vector<float> rows_, columns_;
  float least_ = 0;
};

// Storage for sums that are too many for the memory: as many rows as a window has, [channels, padded] each, all 0 at
// first.
class SumStore {
 public:
  SumStore() = default;
  virtual ~SumStore() = default;
  SumStore(const SumStore&) = delete;
  SumStore& operator=(const SumStore&) = delete;
  // Read and write elements of [rows, channels, padded], from `at` on.
  virtual void read(std::uint64_t at, std::span<float> out) = 0;
  virtual void write(std::uint64_t at, std::span<const float> sums) = 0;
};

// Sums up the results of windows. Windows are added row after row, from left to right; rows of the image come out from
// the top.
class WindowBlender {
 public:
  // Both axes must outlive the blend, and so must the store, where there is one. The sums are the same bits either way.
  WindowBlender(const WindowAxis& y, const WindowAxis& x, int channels, Importance importance,
                SumStore* store = nullptr);
  static std::uint64_t bytes(const WindowAxis& y, const WindowAxis& x, int channels, bool stored = false);

  // `result` is [channels, window, window]. Windows that are left out are not added.
  void add(std::size_t row, std::size_t column, const float* result);
  // Returns the end of the padded rows that are whole once all windows of the rows before `row` were added.
  std::int64_t complete_rows_before(std::size_t row) const;
  // Writes the weighted mean of row `y` of the image, [channels, width], 0 where no window was. Rows are taken in their
  // order, each once.
  void take_row(std::int64_t y, float* out);
  // Returns, for the row that was taken last and by column of the image, the sum of its windows' weights; 0 where no
  // window was.
  std::span<const float> weights() const {
    return {divisor_.data() + x_.before(), static_cast<std::size_t>(x_.size())};
  }

 private:
  std::size_t place(std::int64_t row, std::size_t channel) const {
    return (static_cast<std::size_t>(row % y_.window()) * channels_ + channel) * static_cast<std::size_t>(x_.padded());
  }

  const WindowAxis &y_, &x_;
  const std::size_t channels_;
  const WindowWeights weights_;
  SumStore* const store_;
  Buffer<float> sums_;                    // [window, channels, padded], a ring of rows; with a store, a single row
  Buffer<float> divisor_;                 // sum of weights of one row
  std::vector<std::vector<bool>> added_;  // by window's row and column
};

// Applies it in place to one row, [channels, width].
void sigmoid(std::span<float> values);
// Applies it over channels, at each place.
void softmax(std::span<float> values, std::size_t channels);

// Reverses, in place, the order of rows, of columns, or of both, of [planes, height, width].
void flip(std::span<float> values, std::size_t height, std::size_t width, bool rows, bool columns);

// Enlarges a result of lower resolution, [planes, height / factor, width / factor], to that of its window. It is
// bilinear between the middles of pixels, as PyTorch's interpolate with align_corners off.
void enlarge(std::span<const float> from, std::size_t height, std::size_t width, std::size_t factor,
             std::span<float> out);

// Labels a row, [channels, width]: the channel with the greatest value, the first of equal ones. With a threshold,
// labels are 0 where that value is below it, and the channel + 1 elsewhere. Labels are 0 where `weights` is 0. Needs
// fewer than 256 channels.
void label(std::span<const float> row, std::span<const float> weights, std::optional<float> threshold,
           std::span<std::uint8_t> out);

// Maximum bytes of an image's pixel: red, green and blue, and these enhanced.
inline constexpr std::size_t kMaxPixelBytes = 6;

// Values that a network gets for pixels of 8 bits, by channel: of[v] for level v.
struct LevelTable {
  std::array<float, 256> of;
};
// Writes one window of an interleaved image, as [channels, window, window]. `rows[k]` is the image's row first_row + k.
// `order[c]` is the image's channel for the network's channel c; `pixel` is the number of the image's channels.
void gather_window(const WindowAxis& y, const WindowAxis& x, std::size_t window_row, std::size_t window_column,
                   Padding padding, const std::vector<const std::uint8_t*>& rows, std::int64_t first_row,
                   std::size_t pixel, std::span<const std::size_t> order, std::span<const LevelTable> levels,
                   float* out);

// Returns the greatest difference between two pixels of a window in one channel. Arguments are those of gather(); pixel
// <= kMaxPixelBytes.
int measure_spread(const WindowAxis& y, const WindowAxis& x, std::size_t window_row, std::size_t window_column,
                   const std::vector<const std::uint8_t*>& rows, std::int64_t first_row, std::size_t pixel);

}  // namespace millrace::window
