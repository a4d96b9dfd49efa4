#include "src/kernels/pdq/pdq.h"
#include "src/kernels/pdq/pdq_math.h"

namespace millrace {
namespace {

// Applies the box filter to one line. The running sum is kept in float and only ever changed by the input that enters,
// then by the one that leaves: its rounding is part of the definition.
void box_line(const float* in, float* out, int length, std::ptrdiff_t step, int window) {
  const int right = pdq::right_of(window);
  const int left = pdq::left_of(window);
  float sum = 0;
  int inside = 0;
  for (int i = 0; i < right; ++i, ++inside) sum += in[i * step];
  for (int o = 0; o < length; ++o) {
    if (o + right < length) {
      sum += in[(o + right) * step];
      ++inside;
    }
    if (o > left) {
      sum -= in[(o - left - 1) * step];
      --inside;
    }
    out[o * step] = sum / static_cast<float>(inside);
  }
}

}  // namespace

PdqHash pdq_reference(const std::uint8_t* data, int width, int height, int channels) {
  if (width < pdq::kMinSide || height < pdq::kMinSide) return {};
  const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<float> a(count), b(count);
  for (std::size_t i = 0; i < count; ++i) a[i] = pdq::luma_of(data + i * static_cast<std::size_t>(channels), channels);
  std::array<float, pdq::kSamples * pdq::kSamples> samples;
  if (width == pdq::kSamples && height == pdq::kSamples) {
    std::copy(a.begin(), a.end(), samples.begin());
    return pdq::hash_of(samples);
  }
  for (int round = 0; round < 2; ++round) {
    for (int y = 0; y < height; ++y) {
      const auto row = static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
      box_line(&a[row], &b[row], width, 1, pdq::window_for(width));
    }
    for (int x = 0; x < width; ++x)
      box_line(&b[static_cast<std::size_t>(x)], &a[static_cast<std::size_t>(x)], height, width,
               pdq::window_for(height));
  }
  for (int i = 0; i < pdq::kSamples; ++i) {
    for (int j = 0; j < pdq::kSamples; ++j) {
      samples[static_cast<std::size_t>(i * pdq::kSamples + j)] =
          a[static_cast<std::size_t>(pdq::sample_at(i, height)) * static_cast<std::size_t>(width) +
            static_cast<std::size_t>(pdq::sample_at(j, width))];
    }
  }
  return pdq::hash_of(samples);
}

}  // namespace millrace
