#include "src/jobs/latents/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/base/text.h"

namespace millrace::latents {
namespace {

// Distributions, in the order of their arrays: what a row holds of each, and of how many numbers of what it is made.
struct Distribution {
  std::string name;
  const std::vector<double>* values;
  // [outer, inner] numbers, of which each latent may have fewer inner ones.
  std::uint64_t outer, inner;
};

std::vector<Distribution> distributions(const Shape& most, const Measures& m) {
  const auto channels = static_cast<std::uint64_t>(most.channels), frames = static_cast<std::uint64_t>(most.frames);
  const auto radii = static_cast<std::uint64_t>(std::max(0, std::min(most.height / 2, most.width / 2) - 1));
  std::vector<Distribution> out = {
      {"spatial.variance", &m.variance, channels, frames},
      {"spatial.autocorrelation", &m.autocorrelation, channels, frames},
      {"spatial.edge_density", &m.edge_density, channels, frames},
      {"temporal.frame_correlation", &m.frame_correlation, channels, frames - 1},
      {"temporal.motion", &m.motion, channels, frames - 1},
      {"temporal.variance", &m.temporal_variance, 1, frames > 1 ? channels : 0},
      {"channel.mean", &m.channel_mean, 1, channels},
      {"channel.variance", &m.channel_variance, 1, channels},
      {"channel.magnitude", &m.channel_magnitude, 1, channels},
      {"channel.correlation", &m.channel_correlation, 1, channels * (channels - 1) / 2},
      {"channel.cross_interaction", &m.cross_interaction, 1, channels > 1 ? frames : 0},
      {"frequency.spatial_spectrum", &m.spatial_spectrum, 1, radii},
      {"frequency.temporal_spectrum", &m.temporal_spectrum, 1, frames > 1 ? frames / 2 + 1 : 0},
  };
  constexpr int kSides[] = {4, 8, 16};
  for (std::size_t k = 0; k < 3; ++k) {
    const int patches = (most.height / kSides[k]) * (most.width / kSides[k]);
    out.push_back(
        {fmt::format("patch.{}.variance", kSides[k]), &m.patch_variance[k], channels, patches > 0 ? frames : 0});
    out.push_back({fmt::format("patch.{}.distinctiveness", kSides[k]), &m.patch_distinctiveness[k], channels,
                   patches > 1 ? frames : 0});
  }
  std::erase_if(out, [](const Distribution& d) { return d.outer * d.inner == 0; });
  return out;
}

Shape most_of(const LatentSet& set) {
  Shape out = set.files.front().shape;
  out.frames = set.most_frames();
  return out;
}

std::uint32_t longest(const LatentSet& set, std::string Video::*name) {
  std::size_t out = 1;
  for (const Video& video : set.videos) out = std::max(out, utf8_for_display(video.*name).size());
  return static_cast<std::uint32_t>(out);
}

}  // namespace

DatasetSpec dataset_of(const Options& options, const LatentSet& set) {
  // Raised when the same latents give other numbers.
  constexpr int kMeasuring = 1;
  const Shape most = most_of(set);
  DatasetSpec out;
  out.unit = "latents";
  out.rows = set.files.size();
  std::string names;
  for (const std::string_view name : kMetricNames) names += fmt::format("{}{}", names.empty() ? "" : ",", name);
  out.attributes = {{kMark, std::to_string(kMeasuring)},
                    {"groups", utf8_for_display(options.groups)},
                    {"steps", options.steps_text},
                    {"layout", choice_name(options.layout)},
                    {"metrics", names},
                    {"inputs", fmt::format(R"([{{"latents":{},"digest":"{}"}}])", set.files.size(), set.digest())}};
  out.arrays.push_back({.name = kMetricsArray, .type = kFloat64, .shape = {kMetricNames.size()}});
  out.arrays.push_back({.name = kTrajectoryArray, .type = kFloat64, .shape = {4}});
  static const Measures kNone{};
  for (const Distribution& d : distributions(most, kNone)) {
    std::vector<std::uint64_t> shape = {d.inner};
    if (d.outer > 1) shape.insert(shape.begin(), d.outer);
    out.arrays.push_back({.name = d.name, .type = kFloat32, .shape = std::move(shape)});
  }
  out.arrays.push_back({.name = "not_finite", .type = kUint64});
  out.arrays.push_back(
      {.name = "index/group", .rows = ArraySpec::Rows::texts, .text_bytes = longest(set, &Video::group)});
  out.arrays.push_back(
      {.name = "index/video", .rows = ArraySpec::Rows::texts, .text_bytes = longest(set, &Video::name)});
  out.arrays.push_back({.name = "index/step", .type = kInt64});
  out.arrays.push_back({.name = "index/frames", .type = kUint32});
  return out;
}

void append_row(const LatentSet& set, const LatentFile& latent, const Measures& measures, const Step& step,
                double end_to_end, RowBlock& block) {
  ++block.rows;
  std::size_t array = 0;
  block.arrays[array++].append(std::span<const double>(measures.values));
  for (const double value : {step.distance, step.product, step.change, end_to_end}) block.arrays[array].append(value);
  ++array;
  for (const Distribution& d : distributions(most_of(set), measures)) {
    const std::vector<double>& values = *d.values;
    const std::uint64_t inner = values.size() / d.outer;
    for (std::uint64_t i = 0; i < d.outer; ++i) {
      for (std::uint64_t k = 0; k < d.inner; ++k) {
        block.arrays[array].append(k < inner ? static_cast<float>(values[i * inner + k])
                                             : std::numeric_limits<float>::quiet_NaN());
      }
    }
    ++array;
  }
  const Video& video = set.videos[latent.video];
  block.arrays[array++].append(measures.not_finite);
  block.arrays[array++].append_text(utf8_for_display(video.group));
  block.arrays[array++].append_text(utf8_for_display(video.name));
  block.arrays[array++].append(static_cast<std::int64_t>(latent.step));
  block.arrays[array].append(static_cast<std::uint32_t>(latent.shape.frames));
}

}  // namespace millrace::latents
