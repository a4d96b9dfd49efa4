#include "src/jobs/latents/page_metrics.h"

#include <utility>

namespace millrace::latents {
namespace {

constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"spatial.variance", "variance within a frame"},
    {"spatial.autocorrelation", "smoothness (0 is noise, values near 1 are smooth surfaces)"},
    {"spatial.autocorrelation_valid", "smoothness without wrapping around the edges"},
    {"spatial.edge_density", "mean absolute difference of neighboring values"},
    {"temporal.frame_correlation", "correlation of each frame with the next"},
    {"temporal.variance", "variance over time at each position"},
    {"temporal.motion", "mean absolute difference of successive frames"},
    {"temporal.autocorrelation",
     "autocorrelation of channel means over time, as published (a constant offset makes it 1)"},
    {"temporal.autocorrelation_centered",
     "autocorrelation of channel means over time, without their mean (low values are flicker)"},
    {"channel.variance", "variance of each channel, summed over channels"},
    {"channel.correlation", "correlation between channels"},
    {"channel.dominance", "share of the strongest channel (1 / channels is an even share)"},
    {"channel.dominance_entropy", "entropy of the channels' shares (log(channels) is even)"},
    {"channel.cross_interaction", "correlation between channels within each frame"},
    {"patch.4.variance", "variance within patches of 4 x 4"},
    {"patch.4.distinctiveness", "variance between patches of 4 x 4"},
    {"patch.8.variance", "variance within patches of 8 x 8"},
    {"patch.8.distinctiveness", "variance between patches of 8 x 8"},
    {"patch.16.variance", "variance within patches of 16 x 16"},
    {"patch.16.distinctiveness", "variance between patches of 16 x 16"},
    {"global.mean", "mean of all values"},
    {"global.energy", "mean of the squared values"},
    {"global.variance", "variance of all values, including differences between channel means"},
    {"global.structural_entropy", "entropy of the variances of planes (low if they are alike)"},
    {"global.symmetry", "correlation of one half with the mirrored other half, left with right and upper with lower"},
    {"global.symmetry_published", "symmetry, as published for odd sides"},
    {"information.mutual", "mutual information of channels, linear or not"},
    {"information.mutual_published", "mutual information of channels, with the published bins"},
    {"information.density", "entropy of the values (log(20) is an even spread)"},
    {"complexity.effective_dimension", "number of directions among channels that carry 95 % of the power"},
    {"complexity.effective_dimension_centered", "number of directions among channels that carry 95 % of the variance"},
    {"complexity.spectral_flatness", "flatness of the spectrum (1 is white noise, values near 0 are structure)"},
    {"frequency.spatial_entropy", "entropy of the spatial spectrum (low if the power is at few scales)"},
    {"frequency.spatial_peak", "strongest spatial frequency, in periods per side"},
    {"frequency.temporal_dominant", "strongest temporal frequency, in periods per video"},
    {"trajectory.path", "length of the path of the sampler"},
    {"trajectory.linearity", "direct distance divided by path length (1 is a straight line)"},
    {"trajectory.tortuosity", "path length divided by direct distance (1 is a straight line)"},
    {"trajectory.velocity", "mean length of a step"},
    {"trajectory.acceleration", "mean change from one step to the next"},
    {"trajectory.turning_angle", "mean change of direction, in radians"},
    {"trajectory.half_life", "number of steps until half of the path is covered"},
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
      {"spatial", "Spatial"}, {"temporal", "Temporal"},       {"channel", "Channels"},      {"patch", "Patches"},
      {"global", "Global"},   {"information", "Information"}, {"complexity", "Complexity"}, {"frequency", "Frequency"},
  };
  return kFamilies;
}

}  // namespace millrace::latents
