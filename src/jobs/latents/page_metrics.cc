#include "src/jobs/latents/page_metrics.h"

#include <utility>

namespace millrace::latents {
namespace {

constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"spatial.variance", "how much there is in a frame"},
    {"spatial.autocorrelation", "smoothness; 0 is noise, near 1 are surfaces"},
    {"spatial.autocorrelation_valid", "the same without what goes around the edges"},
    {"spatial.edge_density", "how much changes from place to place"},
    {"temporal.frame_correlation", "whether one frame is like the next"},
    {"temporal.variance", "how much changes over time at one place"},
    {"temporal.motion", "how much changes from one frame to the next"},
    {"temporal.autocorrelation", "whether brightness flickers, as published: an offset makes it 1"},
    {"temporal.autocorrelation_centered", "flicker itself, less the mean"},
    {"channel.variance", "how much there is in the latent, over all channels"},
    {"channel.correlation", "whether channels say the same"},
    {"channel.dominance", "whether one channel carries the latent; 1 / channels is even"},
    {"channel.dominance_entropy", "the same over all channels; log channels is even"},
    {"channel.cross_interaction", "whether channels say the same within a frame"},
    {"patch.4.variance", "how much happens within 4 x 4"},
    {"patch.4.distinctiveness", "how much patches of 4 x 4 differ from each other"},
    {"patch.8.variance", "how much happens within 8 x 8"},
    {"patch.8.distinctiveness", "how much patches of 8 x 8 differ from each other"},
    {"patch.16.variance", "how much happens within 16 x 16"},
    {"patch.16.distinctiveness", "how much patches of 16 x 16 differ from each other"},
    {"global.mean", "offset"},
    {"global.energy", "power"},
    {"global.variance", "spread, differences between channels' means included"},
    {"global.structural_entropy", "whether all planes are alike, or some hold more"},
    {"global.symmetry", "left like right, and upper like lower"},
    {"global.symmetry_published", "the same, as published for odd sides"},
    {"information.mutual", "dependence of channels that need not be a line"},
    {"information.mutual_published", "the same with published bins"},
    {"information.density", "how evenly values spread; log 20 is even"},
    {"complexity.effective_dimension", "how many directions among channels carry 95 %"},
    {"complexity.effective_dimension_centered", "the same without offsets"},
    {"complexity.spectral_flatness", "1 is white noise, near 0 is structure"},
    {"frequency.spatial_entropy", "whether power lies at few scales or at all"},
    {"frequency.spatial_peak", "the scale that dominates, in periods a side"},
    {"frequency.temporal_dominant", "the period that dominates, in periods a video"},
    {"trajectory.path", "how far the sampler went"},
    {"trajectory.linearity", "1 is a straight line"},
    {"trajectory.tortuosity", "path over distance, 1 is a straight line"},
    {"trajectory.velocity", "length of a step"},
    {"trajectory.acceleration", "how much one step is unlike the next"},
    {"trajectory.turning_angle", "how much the direction changes, in radians"},
    {"trajectory.half_life", "after how many steps half of the path is behind"},
};

}  // namespace

std::string_view meaning_of(std::string_view metric) {
  for (const auto& [name, meaning] : kMeanings) {
    if (name == metric) return meaning;
  }
  return {};
}

std::string_view family_of(std::string_view metric) { return metric.substr(0, metric.find('.')); }

const std::vector<MetricFamily>& metric_families() {
  static const std::vector<MetricFamily> kFamilies = {
      {"spatial", "In space"}, {"temporal", "Over time"},      {"channel", "Channels"},      {"patch", "Patches"},
      {"global", "The whole"}, {"information", "Information"}, {"complexity", "Complexity"}, {"frequency", "Frequency"},
  };
  return kFamilies;
}

}  // namespace millrace::latents
