#include "src/kernels/resize/resize.h"

#include <algorithm>
#include <cstring>

#include "src/kernels/resize/resize_math.h"
#include "src/kernels/resize/resize_passes.h"

namespace millrace {
namespace {

std::size_t area(int width, int height) { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }

// Filters longer than this are computed output by output, shorter ones strip by strip. Both take the same time at about
// 100 taps. A dot product needs ~12 operations to add up its lanes, a strip ~3.5 per tap to transpose and multiply.
constexpr int kLongFilter = 96;

}  // namespace

// Pass along one axis with its packed weights; only the members that its direction uses are filled.
struct Resizer::Pass {
  std::shared_ptr<const ResizeAxis> shared;
  const ResizeAxis& axis;
  std::shared_ptr<const DotWeights> dots;
  std::shared_ptr<const PairWeights> pairs;

  // Members of a horizontal pass.
  Buffer<std::int16_t> scratch;
  Buffer<std::uint8_t> strip_turned;
  Buffer<std::uint8_t> strip_columns;
  Buffer<std::uint8_t> waiting;  // rows of an incomplete strip
  int waiting_rows = 0;
  int width = 0;

  // Output rows so far; the last `kept` of them are in memory.
  Buffer<std::uint8_t> out;
  int out_rows = 0;
  int kept = 0;

  // Members of a vertical pass before the horizontal one: running sums of the outputs that the current input row
  // contributes to.
  Buffer<std::int32_t> sums;
  int slots = 0;
  int next_open = 0, next_close = 0;

  // Members of a vertical pass after the horizontal one: the input rows of one output row.
  std::vector<const std::uint8_t*> inputs;

  Pass(int in, int out_size) : shared(lanczos_axis(in, out_size)), axis(*shared) {}

  // `rows` is the number of output rows to keep.
  void prepare_horizontal(int rows) {
    width = axis.in;
    kept = rows;
    if (axis.taps > kLongFilter) {
      dots = dot_weights(axis);
      scratch.resize(dot_scratch_needed(width));
    } else {
      pairs = pair_weights(axis);
      const auto strip = static_cast<std::size_t>(kStripRows);
      strip_turned.resize(strip * (static_cast<std::size_t>(width) + 16));
      strip_columns.resize(strip * (static_cast<std::size_t>(axis.out) + 16));
      waiting.resize(strip * static_cast<std::size_t>(width));
    }
    out.resize(area(axis.out, rows));
  }

  std::uint8_t* out_row(int y) { return out.data() + area(axis.out, y % kept); }

  void strip(const std::uint8_t* const* rows, int count) {
    // An incomplete last strip repeats its last row, and writes the copies to the same output row.
    const std::uint8_t* in[kStripRows];
    std::uint8_t* to[kStripRows];
    for (int r = 0; r < kStripRows; ++r) {
      in[r] = rows[std::min(r, count - 1)];
      to[r] = out_row(out_rows + std::min(r, count - 1));
    }
    resize_strip(in, width, *pairs, axis.out, strip_turned.data(), strip_columns.data(), to);
    out_rows += count;
  }

  void push_horizontal(const std::uint8_t* data, std::ptrdiff_t stride, int rows) {
    if (dots) {
      for (int r = 0; r < rows; r += kDotRows) {
        const int count = std::min(kDotRows, rows - r);
        const std::uint8_t* from[kDotRows];
        std::uint8_t* to[kDotRows];
        for (int k = 0; k < count; ++k) {
          from[k] = data + (r + k) * stride;
          to[k] = out_row(out_rows++);
        }
        resize_rows(from, count, width, *dots, scratch.data(), to);
      }
      return;
    }
    const int full = kStripRows;
    const std::uint8_t* in[kStripRows];
    int r = 0;
    while (r < rows) {
      if (waiting_rows == 0 && rows - r >= full) {
        for (int k = 0; k < full; ++k) in[k] = data + (r + k) * stride;
        strip(in, full);
        r += full;
        continue;
      }
      std::memcpy(waiting.data() + area(width, waiting_rows), data + r * stride, static_cast<std::size_t>(width));
      ++r;
      if (++waiting_rows == full) flush_horizontal();
    }
  }

  void flush_horizontal() {
    if (waiting_rows == 0) return;
    const std::uint8_t* in[kStripRows];
    for (int k = 0; k < waiting_rows; ++k) in[k] = waiting.data() + area(width, k);
    const int count = waiting_rows;
    waiting_rows = 0;
    strip(in, count);
  }

  // Returns the number of rows that a vertical pass along `axis` may still need while rows arrive kStripRows at a time.
  static int window(const ResizeAxis& axis) { return std::min(axis.in, axis.taps + kStripRows + 1); }

  void prepare_vertical(int plane_width) {
    width = plane_width;
    pairs = pair_weights(axis);
    out.resize(area(plane_width, axis.out));
  }

  // Computes every output whose inputs exist: `there` rows, the last `window` of them in `plane`.
  void advance_vertical(const std::uint8_t* plane, int window, int there) {
    for (; out_rows < axis.out; ++out_rows) {
      const auto y = static_cast<std::size_t>(out_rows);
      if (axis.first[y] + axis.count[y] > there) return;
      inputs.clear();
      for (int i = 0; i < 2 * pairs->pairs[y]; ++i) {
        // The odd half of the last pair may lie past the end; its weight is 0, but it must be readable.
        const int row = std::min(2 * pairs->first_pair[y] + i, there - 1);
        inputs.push_back(plane + area(width, row % window));
      }
      resize_column_row(inputs.data(), width, *pairs, out_rows, out.data() + area(width, out_rows));
    }
  }

  static int most_open(const ResizeAxis& axis) {
    int most = 1;
    for (int open = 0, close = 0; open < axis.out; ++open) {
      while (axis.first[static_cast<std::size_t>(close)] + axis.count[static_cast<std::size_t>(close)] <=
             axis.first[static_cast<std::size_t>(open)]) {
        ++close;
      }
      most = std::max(most, open - close + 1);
    }
    return most;
  }

  void prepare_vertical_first(int plane_width) {
    width = plane_width;
    slots = most_open(axis);
    sums.resize(area(plane_width, slots));
    out.resize(area(plane_width, axis.out));
  }

  std::int32_t* sums_of(int y) { return sums.data() + area(width, y % slots); }

  void push_vertical(const std::uint8_t* data, std::ptrdiff_t stride, int first_row, int rows) {
    for (int r = 0; r < rows; ++r) {
      const int row = first_row + r;
      while (next_open < axis.out && axis.first[static_cast<std::size_t>(next_open)] <= row) {
        std::fill_n(sums_of(next_open), width, kResizeHalf);
        ++next_open;
      }
      for (int y = next_close; y < next_open; ++y) {
        const int tap = row - axis.first[static_cast<std::size_t>(y)];
        resize_accumulate(data + r * stride, width, axis.weights_of(y)[tap], sums_of(y));
      }
      while (next_close < next_open &&
             axis.first[static_cast<std::size_t>(next_close)] + axis.count[static_cast<std::size_t>(next_close)] ==
                 row + 1) {
        const std::int32_t* sum = sums_of(next_close);
        std::uint8_t* to = out.data() + area(width, next_close);
        for (int x = 0; x < width; ++x) to[x] = resize_clip(sum[x]);
        ++next_close;
      }
    }
  }
};

Resizer::Resizer(int width, int height, int out_width, int out_height)
    : vertical_first_(vertical_pass_first(width, height, out_width, out_height)),
      width_(width),
      out_height_(out_height) {
  if (out_width != width) horizontal_ = std::make_unique<Pass>(width, out_width);
  if (out_height != height) vertical_ = std::make_unique<Pass>(height, out_height);
  if (vertical_first_ && vertical_) {
    vertical_->prepare_vertical_first(width);
    if (horizontal_) horizontal_->prepare_horizontal(out_height);
    return;
  }
  if (vertical_) vertical_->prepare_vertical(out_width);
  if (horizontal_) horizontal_->prepare_horizontal(vertical_ ? Pass::window(vertical_->axis) : height);
  if (!horizontal_) copy_.reserve(area(width, height));
}

Resizer::~Resizer() = default;
Resizer::Resizer(Resizer&&) noexcept = default;
Resizer& Resizer::operator=(Resizer&&) noexcept = default;

void Resizer::push(const std::uint8_t* data, std::ptrdiff_t stride, int rows) {
  if (vertical_first_ && vertical_) {
    vertical_->push_vertical(data, stride, pushed_, rows);
  } else if (horizontal_) {
    // The vertical pass allows for at most kStripRows new rows at a time.
    for (int r = 0; r < rows; r += kStripRows) {
      horizontal_->push_horizontal(data + r * stride, stride, std::min(kStripRows, rows - r));
      if (vertical_) vertical_->advance_vertical(horizontal_->out.data(), horizontal_->kept, horizontal_->out_rows);
    }
  } else {
    for (int r = 0; r < rows; ++r) copy_.insert(copy_.end(), data + r * stride, data + r * stride + width_);
  }
  pushed_ += rows;
}

const std::uint8_t* Resizer::result() {
  if (result_ == nullptr) result_ = finish();
  return result_;
}

const std::uint8_t* Resizer::finish() {
  if (vertical_first_ && vertical_) {
    if (!horizontal_) return vertical_->out.data();
    horizontal_->push_horizontal(vertical_->out.data(), width_, out_height_);
    horizontal_->flush_horizontal();
    return horizontal_->out.data();
  }
  if (!horizontal_) {
    if (!vertical_) return copy_.data();
    vertical_->advance_vertical(copy_.data(), vertical_->axis.in, vertical_->axis.in);
    return vertical_->out.data();
  }
  horizontal_->flush_horizontal();
  if (!vertical_) return horizontal_->out.data();
  vertical_->advance_vertical(horizontal_->out.data(), horizontal_->kept, horizontal_->out_rows);
  return vertical_->out.data();
}

Workspace Resizer::workspace(int width, int height, int out_width, int out_height) {
  const auto weights = [](int in, int out) {
    const double support = 3.0 * std::max(1.0, static_cast<double>(in) / out);
    return static_cast<std::size_t>(2 * support + 72) * static_cast<std::size_t>(out) * 8;
  };
  std::size_t bytes = weights(width, out_width) + weights(height, out_height) + area(out_width, out_height);
  if (vertical_pass_first(width, height, out_width, out_height)) {
    const auto slots = static_cast<std::size_t>(std::min(out_height, 6 * std::max(1, out_height / height) + 2));
    bytes += slots * static_cast<std::size_t>(width) * 4 + area(width, out_height) + area(out_width, out_height);
  } else {
    // If a vertical pass follows, only the rows that it may still need are kept.
    const int taps = 2 * static_cast<int>(3.0 * std::max(1.0, static_cast<double>(height) / out_height) + 1) + 1;
    bytes += area(out_width, out_height == height ? height : std::min(height, taps + kStripRows + 1));
  }
  const auto strip = static_cast<std::size_t>(kStripRows);
  bytes += strip * (static_cast<std::size_t>(width) * 3 + static_cast<std::size_t>(out_width)) + 8192;
  return {.host = {bytes}};
}

}  // namespace millrace
