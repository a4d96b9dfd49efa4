#include "src/kernels/hash/colorhash.h"

#include <algorithm>
#include <cmath>

namespace millrace {
namespace {

struct HueSaturation {
  int hue, saturation;
};

// Pillow's conversion, float and double mixed exactly as in C there.
HueSaturation hue_saturation(int r, int g, int b) {
  const int highest = std::max({r, g, b});
  const int lowest = std::min({r, g, b});
  if (highest == lowest) return {0, 0};
  const auto range = static_cast<float>(highest - lowest);
  const float saturation = range / static_cast<float>(highest);
  const float rc = static_cast<float>(highest - r) / range;
  const float gc = static_cast<float>(highest - g) / range;
  const float bc = static_cast<float>(highest - b) / range;
  float hue = 0;
  if (r == highest) {
    hue = bc - gc;
  } else if (g == highest) {
    hue = static_cast<float>(2.0 + rc - bc);
  } else {
    hue = static_cast<float>(4.0 + gc - rc);
  }
  // hue / 6 + 1 lies in [0.83, 1.84): the remainder by 1 is a subtraction, exact as fmod is.
  double turned = hue / 6.0 + 1.0;
  if (turned >= 1.0) turned -= 1.0;
  hue = static_cast<float>(turned);
  return {static_cast<int>(hue * 255.0), static_cast<int>(saturation * 255.0)};
}

}  // namespace

ColorCounter ColorCounter::of(std::uint64_t total, std::span<const std::uint32_t, 15> counts) {
  ColorCounter out;
  out.total_ = total;
  out.black_ = counts[0];
  out.gray_ = counts[1];
  out.colored_ = counts[2];
  for (std::size_t bin = 0; bin < 6; ++bin) {
    out.faint_[bin] = counts[3 + bin];
    out.bright_[bin] = counts[9 + bin];
  }
  return out;
}

void ColorCounter::add(const std::uint8_t* data, const std::uint8_t* luma, std::size_t count, int channels) {
  total_ += count;
  for (std::size_t i = 0; i < count; ++i) {
    if (luma[i] < 32) {
      ++black_;
      continue;
    }
    if (channels == 1) {
      ++gray_;
      continue;
    }
    const std::uint8_t* px = data + 3 * i;
    const int highest = std::max({px[0], px[1], px[2]});
    const int range = highest - std::min({px[0], px[1], px[2]});
    // Saturation below 84 of 255 needs no division: range / highest < 84 / 255.
    if (range * 255 < 84 * highest) {
      ++gray_;
      continue;
    }
    const auto [hue, saturation] = hue_saturation(px[0], px[1], px[2]);
    if (saturation < 85) {
      ++gray_;
      continue;
    }
    ++colored_;
    const auto bin = static_cast<std::size_t>(std::min(5, hue * 2 / 85));
    if (saturation < 170) ++faint_[bin];
    if (saturation > 170) ++bright_[bin];
  }
}

HashBits ColorCounter::bits() const {
  std::array<int, 14> shares{};
  const auto whole = static_cast<double>(std::max<std::uint64_t>(1, total_));
  shares[0] = std::min(7, static_cast<int>(static_cast<double>(black_) / whole * 8));
  shares[1] = std::min(7, static_cast<int>(static_cast<double>(gray_) / whole * 8));
  const auto colored = static_cast<double>(std::max<std::uint64_t>(1, colored_));
  for (std::size_t i = 0; i < 6; ++i) {
    shares[2 + i] = std::min(7, static_cast<int>(static_cast<double>(faint_[i]) * 8 / colored));
    shares[8 + i] = std::min(7, static_cast<int>(static_cast<double>(bright_[i]) * 8 / colored));
  }
  HashBits bits;
  for (const int v : shares) {
    bits.push_back(v >= 4);
    bits.push_back(((v >> 1) & 3) > 0);
    bits.push_back((v & 1) != 0);
  }
  return bits;
}

}  // namespace millrace
