#include "src/kernels/masks/guided_filter.h"

#include <algorithm>
#include <cmath>

namespace millrace::masks {
namespace {

constexpr std::int32_t kSmaller = 4;

// Returns a picture's sample as 16 bits, whatever its depth.
std::uint32_t luma_at(const GuideImage& picture, std::int32_t x, std::int32_t y) {
  const std::uint8_t* row = picture.rows + static_cast<std::size_t>(y) * picture.stride;
  if (picture.depth <= 8) return row[x] * 257U;
  const std::uint32_t value = reinterpret_cast<const std::uint16_t*>(row)[x];
  return value << (16 - picture.depth);
}

// Sums over windows that end at the sides, from a table of sums over areas from the top left corner.
class Windows {
 public:
  Windows(std::vector<std::uint64_t>& table, std::int32_t width, std::int32_t height)
      : table_(table), width_(width), height_(height) {
    table_.assign(static_cast<std::size_t>(width + 1) * static_cast<std::size_t>(height + 1), 0);
  }
  template <typename Value>
  void fill(const Value& value) {
    const auto stride = static_cast<std::size_t>(width_ + 1);
    for (std::int32_t y = 0; y < height_; ++y) {
      std::uint64_t row = 0;
      for (std::int32_t x = 0; x < width_; ++x) {
        row += value(static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x));
        const std::size_t at = static_cast<std::size_t>(y + 1) * stride + static_cast<std::size_t>(x + 1);
        table_[at] = table_[at - stride] + row;
      }
    }
  }
  double sum(std::int32_t x, std::int32_t y, std::int32_t radius) const {
    const auto stride = static_cast<std::size_t>(width_ + 1);
    const auto left = static_cast<std::size_t>(std::max(x - radius, 0));
    const auto right = static_cast<std::size_t>(std::min(x + radius + 1, width_));
    const auto top = static_cast<std::size_t>(std::max(y - radius, 0));
    const auto bottom = static_cast<std::size_t>(std::min(y + radius + 1, height_));
    return static_cast<double>(table_[bottom * stride + right] - table_[top * stride + right] -
                               table_[bottom * stride + left] + table_[top * stride + left]);
  }
  double count(std::int32_t x, std::int32_t y, std::int32_t radius) const {
    return static_cast<double>(std::min(x + radius + 1, width_) - std::max(x - radius, 0)) *
           static_cast<double>(std::min(y + radius + 1, height_) - std::max(y - radius, 0));
  }

 private:
  std::vector<std::uint64_t>& table_;
  std::int32_t width_, height_;
};

// Means of numbers of either sign, over a window: floats are made whole first.
constexpr double kFraction = 1 << 20, kShift = 1 << 24;
std::uint64_t whole(float value) {
  return static_cast<std::uint64_t>(std::llround((static_cast<double>(value) + kShift) * kFraction));
}
float fraction(double mean) { return static_cast<float>(mean / kFraction - kShift); }

}  // namespace

void guide(std::uint16_t* mask, std::int32_t width, std::int32_t height, const GuideImage& picture, int radius,
           double edge, GuideWorkspace& workspace) {
  const std::int32_t w = (width + kSmaller - 1) / kSmaller, h = (height + kSmaller - 1) / kSmaller;
  const std::size_t pixels = static_cast<std::size_t>(w) * static_cast<std::size_t>(h);
  const std::int32_t r = std::max(radius / kSmaller, 1);
  workspace.luma.resize(pixels);
  workspace.small.resize(pixels);
  for (std::int32_t y = 0; y < h; ++y) {
    for (std::int32_t x = 0; x < w; ++x) {
      std::uint32_t luma = 0, front = 0, count = 0;
      for (std::int32_t j = y * kSmaller; j < std::min((y + 1) * kSmaller, height); ++j) {
        for (std::int32_t i = x * kSmaller; i < std::min((x + 1) * kSmaller, width); ++i) {
          luma += luma_at(picture, i, j);
          front += mask[static_cast<std::size_t>(j) * static_cast<std::size_t>(width) + static_cast<std::size_t>(i)];
          ++count;
        }
      }
      const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x);
      workspace.luma[at] = static_cast<std::uint16_t>(luma / count);
      workspace.small[at] = static_cast<std::uint16_t>(front / count);
    }
  }
  const std::uint16_t *const luma = workspace.luma.data(), *const small = workspace.small.data();
  Windows of_luma(workspace.sums[0], w, h), of_mask(workspace.sums[1], w, h), of_both(workspace.sums[2], w, h),
      of_square(workspace.sums[3], w, h);
  of_luma.fill([&](std::size_t k) { return std::uint64_t{luma[k]}; });
  of_mask.fill([&](std::size_t k) { return std::uint64_t{small[k]}; });
  of_both.fill([&](std::size_t k) { return std::uint64_t{luma[k]} * small[k]; });
  of_square.fill([&](std::size_t k) { return std::uint64_t{luma[k]} * luma[k]; });
  // Values of the mask and of the picture are scaled to 1.
  const double most = 65535, one = kOne, tolerance = edge * edge;
  workspace.a.resize(pixels);
  workspace.b.resize(pixels);
  for (std::int32_t y = 0; y < h; ++y) {
    for (std::int32_t x = 0; x < w; ++x) {
      const double n = of_luma.count(x, y, r);
      const double mean_luma = of_luma.sum(x, y, r) / n / most, mean_mask = of_mask.sum(x, y, r) / n / one;
      const double covariance = of_both.sum(x, y, r) / n / most / one - mean_luma * mean_mask;
      const double variance = of_square.sum(x, y, r) / n / most / most - mean_luma * mean_luma;
      const double a = covariance / (variance + tolerance);
      const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x);
      workspace.a[at] = static_cast<float>(a);
      workspace.b[at] = static_cast<float>(mean_mask - a * mean_luma);
    }
  }
  // Averages the coefficients of all windows that a pixel lies in.
  of_luma.fill([&](std::size_t k) { return whole(workspace.a[k]); });
  of_mask.fill([&](std::size_t k) { return whole(workspace.b[k]); });
  for (std::int32_t y = 0; y < h; ++y) {
    for (std::int32_t x = 0; x < w; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x);
      const double n = of_luma.count(x, y, r);
      workspace.a[at] = fraction(of_luma.sum(x, y, r) / n);
      workspace.b[at] = fraction(of_mask.sum(x, y, r) / n);
    }
  }
  const std::vector<Tap> across = taps(w, width), down = taps(h, height);
  workspace.row_a.resize(static_cast<std::size_t>(w));
  workspace.row_b.resize(static_cast<std::size_t>(w));
  for (std::int32_t y = 0; y < height; ++y) {
    const Tap& tap = down[static_cast<std::size_t>(y)];
    const float weight = static_cast<float>(tap.weight) / kOne;
    const std::size_t above = static_cast<std::size_t>(tap.from) * static_cast<std::size_t>(w);
    const std::size_t below = tap.weight == 0 ? above : above + static_cast<std::size_t>(w);
    for (std::size_t x = 0; x < static_cast<std::size_t>(w); ++x) {
      workspace.row_a[x] = workspace.a[above + x] + (workspace.a[below + x] - workspace.a[above + x]) * weight;
      workspace.row_b[x] = workspace.b[above + x] + (workspace.b[below + x] - workspace.b[above + x]) * weight;
    }
    std::uint16_t* row = mask + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    for (std::int32_t x = 0; x < width; ++x) {
      const Tap& at = across[static_cast<std::size_t>(x)];
      const auto left = static_cast<std::size_t>(at.from), right = at.weight == 0 ? left : left + 1;
      const float share = static_cast<float>(at.weight) / kOne;
      const float a = workspace.row_a[left] + (workspace.row_a[right] - workspace.row_a[left]) * share;
      const float b = workspace.row_b[left] + (workspace.row_b[right] - workspace.row_b[left]) * share;
      const float value = (a * (static_cast<float>(luma_at(picture, x, y)) / 65535.0F) + b) * kOne;
      row[x] = static_cast<std::uint16_t>(std::clamp(value + 0.5F, 0.0F, static_cast<float>(kOne)));
    }
  }
}

}  // namespace millrace::masks
