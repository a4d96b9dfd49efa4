#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/error.h"
#include "src/kernels/latents/latents_steps.h"

namespace millrace::latents {

double ChannelMoments::deviation() const {
  // Deviations of float32 and float16 are lost in rounding beside a mean that is so much greater.
  // docs/design/latents-statistics.md gives the reasons for the constants of this file.
  constexpr double kNothing = 1e-14;
  if (count < 2 || squares <= kNothing * count * mean * mean) return 0;
  return std::sqrt(squares / (count - 1));
}

void ChannelMoments::join(const ChannelMoments& other) {
  if (other.count == 0) return;
  const double all = count + other.count, apart = other.mean - mean;
  squares += other.squares + apart * apart * (count * other.count / all);
  mean += apart * (other.count / all);
  count = all;
}

std::vector<ChannelMoments> channel_moments(const ArrayView& latent, const LatentShape& shape) {
  const LatentSource source = source_of(latent, shape.elements());
  std::vector<float> pilots(static_cast<std::size_t>(shape.channels));
  find_pilots(source, shape, pilots);
  const std::size_t count = shape.pixels() * static_cast<std::size_t>(shape.frames);
  std::vector<ChannelMoments> out;
  for (std::size_t c = 0; c < pilots.size(); ++c) {
    const PilotSums sums = sum_about_pilot(source, c * count, count, pilots[c]);
    const auto n = static_cast<double>(count);
    out.push_back({n, pilots[c] + sums.sum / n, std::max(0.0, sums.squares - sums.sum * sums.sum / n)});
  }
  return out;
}

ChannelScaling make_standardization(const ChannelMoments& moments) {
  const double deviation = moments.deviation();
  return {moments.mean, deviation > 0 ? 1 / deviation : 1};
}

void scale_channels(const ArrayView& latent, const LatentShape& shape, std::span<const ChannelScaling> scalings,
                    std::span<float> out) {
  const LatentSource source = source_of(latent, shape.elements());
  if (scalings.size() != static_cast<std::size_t>(shape.channels) || out.size() != shape.elements()) {
    throw Failure(ErrorCode::usage,
                  fmt::format("expected {} scalings and room for {} elements, found {} and {}", shape.channels,
                              shape.elements(), scalings.size(), out.size()),
                  "scale_channels", "");
  }
  constexpr std::size_t kSome = 1024;
  std::array<float, kSome> values;
  const std::size_t count = shape.elements() / scalings.size();
  for (std::size_t c = 0; c < scalings.size(); ++c) {
    const auto [less, times] = scalings[c];
    for (std::size_t begin = 0; begin < count; begin += kSome) {
      const std::size_t some = std::min(kSome, count - begin);
      widen(source, c * count + begin, some, values.data());
      float* const to = out.data() + c * count + begin;
      for (std::size_t i = 0; i < some; ++i)
        to[i] = static_cast<float>((static_cast<double>(values[i]) - less) * times);
    }
  }
}

}  // namespace millrace::latents
