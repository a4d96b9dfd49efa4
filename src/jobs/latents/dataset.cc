#include "src/jobs/latents/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/base/text.h"

namespace millrace::latents {
namespace {

std::uint32_t measure_longest_name(const LatentSet& set, std::string LatentVideo::*name) {
  std::size_t out = 1;
  for (const LatentVideo& video : set.videos) out = std::max(out, replace_invalid_utf8(video.*name).size());
  return static_cast<std::uint32_t>(out);
}

}  // namespace

std::vector<Distribution> distributions(const ChosenMetrics& chosen, const LatentShape& most) {
  using List = const std::vector<double>&;
  const auto channels = static_cast<std::uint64_t>(most.channels), frames = static_cast<std::uint64_t>(most.frames);
  const auto radii = static_cast<std::uint64_t>(std::max(0, std::min(most.height / 2, most.width / 2) - 1));
  std::vector<Distribution> out = {
      {"spatial.variance",
       [](const Measures& m) -> List { return m.variance; },
       channels,
       frames,
       {Metric::spatial_variance, Metric::global_structural_entropy}},
      {"spatial.autocorrelation",
       [](const Measures& m) -> List { return m.autocorrelation; },
       channels,
       frames,
       {Metric::spatial_autocorrelation}},
      {"spatial.edge_density",
       [](const Measures& m) -> List { return m.edge_density; },
       channels,
       frames,
       {Metric::spatial_edge_density}},
      {"temporal.frame_correlation",
       [](const Measures& m) -> List { return m.frame_correlation; },
       channels,
       frames - 1,
       {Metric::temporal_frame_correlation}},
      {"temporal.motion",
       [](const Measures& m) -> List { return m.motion; },
       channels,
       frames - 1,
       {Metric::temporal_motion}},
      {"temporal.variance",
       [](const Measures& m) -> List { return m.temporal_variance; },
       1,
       frames > 1 ? channels : 0,
       {Metric::temporal_variance}},
      {"channel.mean",
       [](const Measures& m) -> List { return m.channel_mean; },
       1,
       channels,
       {Metric::global_mean, Metric::temporal_autocorrelation}},
      {"channel.variance",
       [](const Measures& m) -> List { return m.channel_variance; },
       1,
       channels,
       {Metric::channel_variance, Metric::global_variance}},
      {"channel.magnitude",
       [](const Measures& m) -> List { return m.channel_magnitude; },
       1,
       channels,
       {Metric::channel_dominance, Metric::channel_dominance_entropy}},
      {"channel.correlation",
       [](const Measures& m) -> List { return m.channel_correlation; },
       1,
       channels*(channels - 1) / 2,
       {Metric::channel_correlation}},
      {"channel.cross_interaction",
       [](const Measures& m) -> List { return m.cross_interaction; },
       1,
       channels > 1 ? frames : 0,
       {Metric::channel_cross_interaction}},
      {"frequency.spatial_spectrum",
       [](const Measures& m) -> List { return m.spatial_spectrum; },
       1,
       radii,
       {Metric::frequency_spatial_entropy, Metric::frequency_spatial_peak}},
      {"frequency.temporal_spectrum",
       [](const Measures& m) -> List { return m.temporal_spectrum; },
       1,
       frames > 1 ? frames / 2 + 1 : 0,
       {Metric::frequency_temporal_dominant}},
  };
  const auto add_patches = [&](int side, auto variance, auto distinctiveness, Metric first) {
    const int patches = (most.height / side) * (most.width / side);
    const auto second = static_cast<Metric>(static_cast<std::size_t>(first) + 1);
    out.push_back({fmt::format("patch.{}.variance", side), variance, channels, patches > 0 ? frames : 0, {first}});
    out.push_back(
        {fmt::format("patch.{}.distinctiveness", side), distinctiveness, channels, patches > 1 ? frames : 0, {second}});
  };
  add_patches(
      4, [](const Measures& m) -> List { return m.patch_variance[0]; },
      [](const Measures& m) -> List { return m.patch_distinctiveness[0]; }, Metric::patch_4_variance);
  add_patches(
      8, [](const Measures& m) -> List { return m.patch_variance[1]; },
      [](const Measures& m) -> List { return m.patch_distinctiveness[1]; }, Metric::patch_8_variance);
  add_patches(
      16, [](const Measures& m) -> List { return m.patch_variance[2]; },
      [](const Measures& m) -> List { return m.patch_distinctiveness[2]; }, Metric::patch_16_variance);
  std::erase_if(out, [&](const Distribution& d) {
    const auto is_chosen = [&](Metric metric) { return chosen.metrics[static_cast<std::size_t>(metric)]; };
    return d.outer * d.inner == 0 || std::none_of(d.metrics.begin(), d.metrics.end(), is_chosen);
  });
  return out;
}

std::vector<PatchHistogram> patch_histograms(const ChosenMetrics& chosen, const LatentShape& most) {
  std::vector<PatchHistogram> out;
  std::size_t metric = static_cast<std::size_t>(Metric::patch_4_variance);
  for (std::size_t k = 0; k < 3; ++k) {
    const int side = 4 << k, patches = (most.height / side) * (most.width / side);
    if (chosen.metrics[metric++] && patches > 0)
      out.push_back({fmt::format("patch.{}.variance_histogram", side), k, &Measures::patch_variances});
    if (chosen.metrics[metric++] && patches > 1)
      out.push_back({fmt::format("patch.{}.distinctiveness_histogram", side), k, &Measures::patch_distinctivenesses});
  }
  return out;
}

DatasetSpec make_dataset_spec(const LatentsJobOptions& options, const LatentSet& set) {
  // Version of the measures: raised when the same latents give other numbers.
  constexpr int kMeasuring = 4;
  const LatentShape most = set.max_shape();
  DatasetSpec out;
  out.unit = "latents";
  out.rows = set.files.size();
  std::string names;
  for (std::size_t k = 0; k < kMetricNames.size(); ++k)
    if (options.chosen.metrics[k]) names += fmt::format("{}{}", names.empty() ? "" : ",", kMetricNames[k]);
  out.attributes = {{kMark, std::to_string(kMeasuring)},
                    {"groups", replace_invalid_utf8(options.groups)},
                    {"steps", options.steps_text},
                    {"layout", choice_name(options.layout)},
                    {"key", replace_invalid_utf8(options.key)},
                    {"normalize", choice_name(options.normalize)},
                    {"metrics", names},
                    {"inputs", fmt::format(R"([{{"latents":{},"digest":"{}"}}])", set.files.size(), set.digest())}};
  if (options.chosen.metrics.any())
    out.arrays.push_back({.name = kMetricsArray, .type = kFloat64, .shape = {options.chosen.metrics.count()}});
  if (options.chosen.trajectory)
    out.arrays.push_back({.name = kTrajectoryArray, .type = kFloat64, .shape = {kTrajectoryColumns}});
  for (const Distribution& d : distributions(options.chosen, most)) {
    std::vector<std::uint64_t> shape = {d.inner};
    if (d.outer > 1) shape.insert(shape.begin(), d.outer);
    out.arrays.push_back({.name = d.name, .type = kFloat32, .shape = std::move(shape)});
  }
  const std::vector<PatchHistogram> counted = patch_histograms(options.chosen, most);
  if (!counted.empty()) {
    std::string edges;
    for (std::size_t k = 0; k < OctaveBins::kEdges; ++k)
      edges += fmt::format("{}{}", k == 0 ? "" : ",", OctaveBins::edge(k));
    out.attributes.emplace_back("histogram_edges", fmt::format("[{}]", edges));
  }
  for (const PatchHistogram& histogram : counted)
    out.arrays.push_back({.name = histogram.name, .type = kUint32, .shape = {OctaveBins::kCount}});
  out.arrays.push_back({.name = "not_finite", .type = kUint64});
  out.arrays.push_back({.name = "index/group",
                        .rows = ArraySpec::Rows::texts,
                        .text_bytes = measure_longest_name(set, &LatentVideo::group)});
  out.arrays.push_back({.name = "index/video",
                        .rows = ArraySpec::Rows::texts,
                        .text_bytes = measure_longest_name(set, &LatentVideo::name)});
  out.arrays.push_back({.name = "index/step", .type = kInt64});
  out.arrays.push_back({.name = "index/frames", .type = kUint32});
  return out;
}

LatentRowWriter::LatentRowWriter(const LatentsJobOptions& options, const LatentSet& set)
    : set_(set),
      chosen_(options.chosen),
      distributions_(distributions(options.chosen, set.max_shape())),
      histograms_(patch_histograms(options.chosen, set.max_shape())) {}

void LatentRowWriter::append(const LatentFile& latent, const Measures& measures, const Step& step, double end_to_end,
                             RowBlock& block) const {
  ++block.rows;
  std::size_t array = 0;
  for (std::size_t k = 0; k < kMetricNames.size(); ++k)
    if (chosen_.metrics[k]) block.arrays[array].append(measures.values[k]);
  if (chosen_.metrics.any()) ++array;
  if (chosen_.trajectory) {
    for (const double value : {step.distance, step.product, step.change, end_to_end}) block.arrays[array].append(value);
    ++array;
  }
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
  for (const PatchHistogram& histogram : histograms_) {
    for (const std::uint32_t count : (measures.*histogram.of)[histogram.size]) block.arrays[array].append(count);
    ++array;
  }
  const LatentVideo& video = set_.videos[latent.video];
  block.arrays[array++].append(measures.not_finite);
  block.arrays[array++].append_text(replace_invalid_utf8(video.group));
  block.arrays[array++].append_text(replace_invalid_utf8(video.name));
  block.arrays[array++].append(static_cast<std::int64_t>(latent.step));
  block.arrays[array].append(static_cast<std::uint32_t>(latent.shape.frames));
}

}  // namespace millrace::latents
