#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/kernels/pdq/pdq.h"

namespace millrace::pdq {

inline constexpr int kSamples = 64;  // side of the picture after filtering
inline constexpr int kKept = 16;     // frequencies kept of each axis
inline constexpr int kMinSide = 5;   // minimum side: shorter ones are not hashed

// Returns luma as numpy does: it multiplies and adds in double, then rounds once to float.
inline float luma_of(const std::uint8_t* px, int channels) {
  const double r = px[0];
  const double g = channels == 3 ? px[1] : r;
  const double b = channels == 3 ? px[2] : r;
  return static_cast<float>(r * 0.299 + g * 0.587 + b * 0.114);
}

// Returns the window of the box filter: half the cell of a 64-cell axis, rounded up. Two rounds of it cover one cell.
constexpr int window_for(int side) { return (side + 2 * kSamples - 1) / (2 * kSamples); }

// Returns the input at the centre of cell i.
inline int sample_at(int i, int side) { return static_cast<int>((i + 0.5) * side / kSamples); }

// A box filter's window at output o covers inputs [o - left, o + right], cut at both ends. Both follow from the
// order of the running sum: `right` inputs are added before the first output.
constexpr int right_of(int window) { return (window + 2) / 2 - 1; }
constexpr int left_of(int window) { return window - (window + 2) / 2; }

// Weights of the DCT's sums: [i * kSamples + j] is the frequency i + 1 at sample j.
inline const std::array<float, kKept * kSamples>& cosines() {
  static const std::array<float, kKept* kSamples> all = [] {
    std::array<float, kKept * kSamples> table{};
    const auto scale = static_cast<float>(std::sqrt(2.0 / kSamples));
    for (int i = 0; i < kKept; ++i) {
      for (int j = 0; j < kSamples; ++j) {
        table[static_cast<std::size_t>(i * kSamples + j)] =
            static_cast<float>(scale * std::cos(M_PI / 2 / kSamples * (i + 1) * (2 * j + 1)));
      }
    }
    return table;
  }();
  return all;
}

// Computes bits and quality from the coefficients and the sum of quantised gradients.
inline PdqHash hash_of_low(const std::array<float, kKept * kKept>& low, int gradients) {
  std::array<float, kKept* kKept> sorted = low;
  std::nth_element(sorted.begin(), sorted.begin() + 127, sorted.end());
  const float median = sorted[127];
  PdqHash hash;
  hash.quality = std::min(100, gradients / 90);
  for (std::size_t k = 0; k < low.size(); ++k) {
    if (low[k] > median) hash.bytes[31 - k / 8] |= static_cast<std::uint8_t>(1 << (k % 8));
  }
  return hash;
}

// Computes bits and quality from the 64 x 64 samples.
inline PdqHash hash_of(const std::array<float, kSamples * kSamples>& samples) {
  const auto at = [&](int i, int j) { return samples[static_cast<std::size_t>(i * kSamples + j)]; };
  int gradients = 0;
  const auto add = [&](float u, float v) { gradients += std::abs(static_cast<int>(((u - v) * 100) / 255)); };
  for (int i = 0; i + 1 < kSamples; ++i) {
    for (int j = 0; j < kSamples; ++j) add(at(i, j), at(i + 1, j));
  }
  for (int i = 0; i < kSamples; ++i) {
    for (int j = 0; j + 1 < kSamples; ++j) add(at(i, j), at(i, j + 1));
  }

  const std::array<float, kKept* kSamples>& cosines = pdq::cosines();
  std::array<float, kKept * kSamples> half{};
  for (int i = 0; i < kKept; ++i) {
    for (int j = 0; j < kSamples; ++j) {
      float sum = 0;
      for (int k = 0; k < kSamples; ++k) sum += cosines[static_cast<std::size_t>(i * kSamples + k)] * at(k, j);
      half[static_cast<std::size_t>(i * kSamples + j)] = sum;
    }
  }
  std::array<float, kKept * kKept> low{};
  for (int i = 0; i < kKept; ++i) {
    for (int j = 0; j < kKept; ++j) {
      float sum = 0;
      for (int k = 0; k < kSamples; ++k) {
        sum += half[static_cast<std::size_t>(i * kSamples + k)] * cosines[static_cast<std::size_t>(j * kSamples + k)];
      }
      low[static_cast<std::size_t>(i * kKept + j)] = sum;
    }
  }
  return hash_of_low(low, gradients);
}

}  // namespace millrace::pdq
