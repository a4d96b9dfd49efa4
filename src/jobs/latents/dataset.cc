#include "src/jobs/latents/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/base/text.h"

namespace millrace::latents {
namespace {

std::vector<Distribution> distributions(const Shape& most) {
  using List = const std::vector<double>&;
  const auto channels = static_cast<std::uint64_t>(most.channels), frames = static_cast<std::uint64_t>(most.frames);
  const auto radii = static_cast<std::uint64_t>(std::max(0, std::min(most.height / 2, most.width / 2) - 1));
  std::vector<Distribution> out = {
      {"spatial.variance", [](const Measures& m) -> List { return m.variance; }, channels, frames},
      {"spatial.autocorrelation", [](const Measures& m) -> List { return m.autocorrelation; }, channels, frames},
      {"spatial.edge_density", [](const Measures& m) -> List { return m.edge_density; }, channels, frames},
      {"temporal.frame_correlation", [](const Measures& m) -> List { return m.frame_correlation; }, channels,
       frames - 1},
      {"temporal.motion", [](const Measures& m) -> List { return m.motion; }, channels, frames - 1},
      {"temporal.variance", [](const Measures& m) -> List { return m.temporal_variance; }, 1,
       frames > 1 ? channels : 0},
      {"channel.mean", [](const Measures& m) -> List { return m.channel_mean; }, 1, channels},
      {"channel.variance", [](const Measures& m) -> List { return m.channel_variance; }, 1, channels},
      {"channel.magnitude", [](const Measures& m) -> List { return m.channel_magnitude; }, 1, channels},
      {"channel.correlation", [](const Measures& m) -> List { return m.channel_correlation; }, 1,
       channels*(channels - 1) / 2},
      {"channel.cross_interaction", [](const Measures& m) -> List { return m.cross_interaction; }, 1,
       channels > 1 ? frames : 0},
      {"frequency.spatial_spectrum", [](const Measures& m) -> List { return m.spatial_spectrum; }, 1, radii},
      {"frequency.temporal_spectrum", [](const Measures& m) -> List { return m.temporal_spectrum; }, 1,
       frames > 1 ? frames / 2 + 1 : 0},
  };
  const auto add_patches = [&](int side, auto variance, auto distinctiveness) {
    const int patches = (most.height / side) * (most.width / side);
    out.push_back({fmt::format("patch.{}.variance", side), variance, channels, patches > 0 ? frames : 0});
    out.push_back({fmt::format("patch.{}.distinctiveness", side), distinctiveness, channels, patches > 1 ? frames : 0});
  };
  add_patches(
      4, [](const Measures& m) -> List { return m.patch_variance[0]; },
      [](const Measures& m) -> List { return m.patch_distinctiveness[0]; });
  add_patches(
      8, [](const Measures& m) -> List { return m.patch_variance[1]; },
      [](const Measures& m) -> List { return m.patch_distinctiveness[1]; });
  add_patches(
      16, [](const Measures& m) -> List { return m.patch_variance[2]; },
      [](const Measures& m) -> List { return m.patch_distinctiveness[2]; });
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
  constexpr int kMeasuring = 2;
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
  for (const Distribution& d : distributions(most)) {
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

RowWriter::RowWriter(const LatentSet& set) : set_(set), distributions_(distributions(most_of(set))) {}

void RowWriter::append(const LatentFile& latent, const Measures& measures, const Step& step, double end_to_end,
                       RowBlock& block) const {
  ++block.rows;
  std::size_t array = 0;
  block.arrays[array++].append(std::span<const double>(measures.values));
  for (const double value : {step.distance, step.product, step.change, end_to_end}) block.arrays[array].append(value);
  ++array;
  for (const Distribution& d : distributions_) {
    const std::vector<double>& values = d.of(measures);
    const std::uint64_t inner = values.size() / d.outer;
    for (std::uint64_t i = 0; i < d.outer; ++i) {
      for (std::uint64_t k = 0; k < d.inner; ++k) {
        block.arrays[array].append(k < inner ? static_cast<float>(values[i * inner + k])
                                             : std::numeric_limits<float>::quiet_NaN());
      }
    }
    ++array;
  }
  const Video& video = set_.videos[latent.video];
  block.arrays[array++].append(measures.not_finite);
  block.arrays[array++].append_text(utf8_for_display(video.group));
  block.arrays[array++].append_text(utf8_for_display(video.name));
  block.arrays[array++].append(static_cast<std::int64_t>(latent.step));
  block.arrays[array].append(static_cast<std::uint32_t>(latent.shape.frames));
}

}  // namespace millrace::latents
