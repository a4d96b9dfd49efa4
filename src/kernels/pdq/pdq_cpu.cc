#include <vector>

#include "src/kernels/pdq/pdq.h"
#include "src/kernels/pdq/pdq_math.h"

namespace millrace {
namespace {

std::size_t size_of(int n) { return static_cast<std::size_t>(n); }

// The box filter down the columns as rows arrive: one running sum a column and a ring of the rows inside the window.
class ColumnBox {
 public:
  ColumnBox(int width, int length)
      : width_(width),
        length_(length),
        window_(pdq::window_for(length)),
        right_(pdq::right_of(window_)),
        left_(pdq::left_of(window_)),
        sums_(size_of(width), 0.0F),
        ring_(size_of(width) * size_of(window_ + 1)),
        out_(size_of(width)) {}

  // Takes row `entered_`; calls emit(output row index, values) for each output that this completes.
  template <typename Emit>
  void push(const float* row, Emit&& emit) {
    std::copy_n(row, width_, ring_row(entered_));
    for (int x = 0; x < width_; ++x) sums_[size_of(x)] += row[x];
    ++entered_;
    ++inside_;
    if (entered_ > right_) emit_next(emit);
    // After the last row no input enters any more, and the remaining outputs follow.
    if (entered_ == length_) {
      while (emitted_ < length_) emit_next(emit);
    }
  }

 private:
  float* ring_row(int row) { return ring_.data() + size_of(row % (window_ + 1)) * size_of(width_); }

  template <typename Emit>
  void emit_next(Emit&& emit) {
    const int o = emitted_++;
    if (o > left_) {
      const float* leaving = ring_row(o - left_ - 1);
      for (int x = 0; x < width_; ++x) sums_[size_of(x)] -= leaving[x];
      --inside_;
    }
    const auto divisor = static_cast<float>(inside_);
    for (int x = 0; x < width_; ++x) out_[size_of(x)] = sums_[size_of(x)] / divisor;
    emit(o, out_.data());
  }

  int width_, length_, window_, right_, left_;
  std::vector<float> sums_, ring_, out_;
  int entered_ = 0, emitted_ = 0, inside_ = 0;
};

// Filters a row. The sum can only be computed step by step, and each step waits for the one before.
void box_row(const float* in, float* out, int length, int window) {
  const int right = pdq::right_of(window);
  const int left = pdq::left_of(window);
  float sum = 0;
  for (int i = 0; i < right; ++i) sum += in[i];
  int o = 0;
  int inside = right;
  for (; o <= left && o + right < length; ++o) {
    sum += in[o + right];
    out[o] = sum / static_cast<float>(++inside);
  }
  const auto divisor = static_cast<float>(inside);
  for (; o + right < length; ++o) {
    sum += in[o + right];
    sum -= in[o - left - 1];
    out[o] = sum / divisor;
  }
  for (; o < length; ++o) {
    if (o > left) {
      sum -= in[o - left - 1];
      --inside;
    }
    out[o] = sum / static_cast<float>(inside);
  }
}

}  // namespace

struct PdqHasher::State {
  State(int w, int h)
      : width(w), height(h), first(w, h), second(pdq::kSamples, h), luma(size_of(w)), boxed(size_of(w)) {
    for (int j = 0; j < pdq::kSamples; ++j) columns[size_of(j)] = pdq::sample_at(j, w);
  }

  void second_round(const float* row) {
    box_row(row, boxed.data(), width, pdq::window_for(width));
    std::array<float, pdq::kSamples> sampled;
    for (std::size_t j = 0; j < sampled.size(); ++j) sampled[j] = boxed[size_of(columns[j])];
    second.push(sampled.data(), [&](int o, const float* values) {
      while (next_sample < pdq::kSamples && pdq::sample_at(next_sample, height) == o) {
        std::copy_n(values, pdq::kSamples, samples.begin() + next_sample * pdq::kSamples);
        ++next_sample;
      }
    });
  }

  int width, height;
  ColumnBox first, second;
  std::vector<float> luma, boxed;
  std::array<int, pdq::kSamples> columns{};
  std::array<float, pdq::kSamples * pdq::kSamples> samples{};
  int next_sample = 0;
};

PdqHasher::PdqHasher(int width, int height) {
  if (width >= pdq::kMinSide && height >= pdq::kMinSide) state_ = std::make_unique<State>(width, height);
}

PdqHasher::~PdqHasher() = default;

void PdqHasher::push(const std::uint8_t* data, std::ptrdiff_t stride, int rows, int channels) {
  if (!state_) return;
  State& s = *state_;
  for (int r = 0; r < rows; ++r) {
    const std::uint8_t* row = data + r * stride;
    for (int x = 0; x < s.width; ++x) s.luma[size_of(x)] = pdq::luma_of(row + x * channels, channels);
    if (s.width == pdq::kSamples && s.height == pdq::kSamples) {
      // A picture of the size that the filter would give is taken as it is.
      std::copy(s.luma.begin(), s.luma.end(), s.samples.begin() + s.next_sample++ * pdq::kSamples);
      continue;
    }
    box_row(s.luma.data(), s.boxed.data(), s.width, pdq::window_for(s.width));
    s.first.push(s.boxed.data(), [&](int, const float* values) { s.second_round(values); });
  }
}

PdqHash PdqHasher::finish() { return state_ ? pdq::hash_of(state_->samples) : PdqHash{}; }

Workspace PdqHasher::workspace(int width, int height) {
  const std::size_t rows = size_of(pdq::window_for(height)) + 5;
  return {.host = {rows * (size_of(width) + pdq::kSamples) * sizeof(float) + 32768}};
}

}  // namespace millrace
