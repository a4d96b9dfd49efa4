#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/error.h"
#include "src/kernels/latents/latents_counts.h"
#include "src/kernels/latents/latents_steps.h"

namespace millrace::latents {
namespace {

double variance_of(const PilotSums& sums, std::size_t count) {
  const auto n = static_cast<double>(count);
  return count > 1 ? std::max(0.0, sums.squares - sums.sum * sums.sum / n) / (n - 1) : 0.0;
}

}  // namespace

std::size_t feature_count(const LatentShape& shape) {
  constexpr std::size_t kOfAll = 4;
  const auto channels = static_cast<std::size_t>(shape.channels);
  return shape.planes() + (shape.frames > 1 ? channels * shape.pixels() : 0) + channels + kOfAll;
}

void compute_features(const ArrayView& latent, const LatentShape& shape, std::span<float> out) {
  const LatentSource source = source_of(latent, shape.elements());
  if (out.size() != feature_count(shape)) {
    throw Failure(ErrorCode::usage,
                  fmt::format("expected room for {} features, found {}", feature_count(shape), out.size()),
                  "compute_features", "");
  }
  const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
  const std::size_t pixels = shape.pixels();
  std::vector<float> pilots(channels);
  find_pilots(source, shape, pilots);
  float* const variances = out.data();
  float* const over_frames = variances + shape.planes();
  float* const magnitudes = over_frames + (frames > 1 ? channels * pixels : 0);
  TimeSums::Lanes lanes(frames);
  TimeSums time;
  std::vector<PilotSums> of_channels(channels);
  ValueRange range;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t f = 0; f < frames; ++f) {
      const PilotSums plane = sum_about_pilot(source, (c * frames + f) * pixels, pixels, pilots[c]);
      variances[c * frames + f] = static_cast<float>(variance_of(plane, pixels));
      of_channels[c].sum += plane.sum;
      of_channels[c].squares += plane.squares;
    }
    sum_over_time(source, shape, static_cast<int>(c), pilots[c], lanes, time, nullptr,
                  frames > 1 ? over_frames + c * pixels : nullptr);
    magnitudes[c] = static_cast<float>(time.magnitude);
    const ValueRange own = find_range(source, c * frames * pixels, frames * pixels);
    range = c == 0 ? own : ValueRange{std::min(range.low, own.low), std::max(range.high, own.high)};
  }
  // Mean and deviation of all values come from the channels' means and the squares about them.
  const std::size_t count = frames * pixels;
  const auto n = static_cast<double>(count);
  double mean = 0, squares = 0;
  for (std::size_t c = 0; c < channels; ++c)
    mean += (pilots[c] + of_channels[c].sum / n) / static_cast<double>(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double apart = pilots[c] + of_channels[c].sum / n - mean;
    squares += std::max(0.0, of_channels[c].squares - of_channels[c].sum * of_channels[c].sum / n) + n * apart * apart;
  }
  const double all = n * static_cast<double>(channels);
  float* const last = magnitudes + channels;
  last[0] = static_cast<float>(mean);
  last[1] = static_cast<float>(all > 1 ? std::sqrt(squares / (all - 1)) : 0);
  last[2] = static_cast<float>(range.high);
  last[3] = static_cast<float>(range.low);
}

}  // namespace millrace::latents
