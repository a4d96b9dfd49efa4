// Input: a latent of a diffusion model, [channels, frames, height, width], in memory.
// Output: a number for each metric, and the distributions that the numbers average.
// Never: reads a file, or uses other latents. A number that a shape or a content does not define is absent.
//
// Definitions, and reasons for the constants: docs/design/latents-statistics.md. Results have the same bits at every
// CPU level: sums run in float32 along a row and in float64 across rows, in a fixed order. A product that is added to
// such a sum is rounded once, together with it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "include/millrace/array.h"
#include "include/millrace/cancel.h"

namespace millrace::latents {

// Elements along each axis; an image has one frame.
struct LatentShape {
  int channels = 0, frames = 1, height = 0, width = 0;

  std::size_t pixels() const { return static_cast<std::size_t>(height) * static_cast<std::size_t>(width); }
  std::size_t planes() const { return static_cast<std::size_t>(channels) * static_cast<std::size_t>(frames); }
  std::size_t elements() const { return planes() * pixels(); }
  friend bool operator==(const LatentShape&, const LatentShape&) = default;
};
inline constexpr int kMaxChannels = 128, kMaxFrames = 4096, kMaxSide = 4096;
// Throws Failure(usage) for a shape without elements, or one beyond these limits.
void check(const LatentShape& shape);

// Names in the order of metrics.csv.
inline constexpr std::array<std::string_view, 35> kMetricNames = {
    "spatial.variance",
    "spatial.autocorrelation",
    "spatial.autocorrelation_valid",
    "spatial.edge_density",
    "temporal.frame_correlation",
    "temporal.variance",
    "temporal.motion",
    "temporal.autocorrelation",
    "temporal.autocorrelation_centered",
    "channel.variance",
    "channel.correlation",
    "channel.dominance",
    "channel.dominance_entropy",
    "channel.cross_interaction",
    "patch.4.variance",
    "patch.4.distinctiveness",
    "patch.8.variance",
    "patch.8.distinctiveness",
    "patch.16.variance",
    "patch.16.distinctiveness",
    "global.mean",
    "global.energy",
    "global.variance",
    "global.structural_entropy",
    "global.symmetry",
    "global.symmetry_published",
    "information.mutual",
    "information.mutual_published",
    "information.density",
    "complexity.effective_dimension",
    "complexity.effective_dimension_centered",
    "complexity.spectral_flatness",
    "frequency.spatial_entropy",
    "frequency.spatial_peak",
    "frequency.temporal_dominant",
};
enum class Metric : std::uint8_t {
  spatial_variance,
  spatial_autocorrelation,
  spatial_autocorrelation_valid,
  spatial_edge_density,
  temporal_frame_correlation,
  temporal_variance,
  temporal_motion,
  temporal_autocorrelation,
  temporal_autocorrelation_centered,
  channel_variance,
  channel_correlation,
  channel_dominance,
  channel_dominance_entropy,
  channel_cross_interaction,
  patch_4_variance,
  patch_4_distinctiveness,
  patch_8_variance,
  patch_8_distinctiveness,
  patch_16_variance,
  patch_16_distinctiveness,
  global_mean,
  global_energy,
  global_variance,
  global_structural_entropy,
  global_symmetry,
  global_symmetry_published,
  information_mutual,
  information_mutual_published,
  information_density,
  complexity_effective_dimension,
  complexity_effective_dimension_centered,
  complexity_spectral_flatness,
  frequency_spatial_entropy,
  frequency_spatial_peak,
  frequency_temporal_dominant,
};

static_assert(static_cast<std::size_t>(Metric::frequency_temporal_dominant) + 1 == kMetricNames.size());

// Set of metrics, by Metric. Sums that only other metrics need are not computed.
using MetricSelection = std::bitset<kMetricNames.size()>;
inline MetricSelection every_metric() { return MetricSelection().set(); }

// Parts of measuring, in the order of the work.
inline constexpr std::array<std::string_view, 8> kStageNames = {
    "over time", "into planes", "pointwise", "patches", "products of channels", "spectra", "histograms", "numbers"};
enum class AnalysisStage : std::uint8_t { time, turning, pointwise, patches, products, spectra, histograms, numbers };
using StageSeconds = std::array<double, kStageNames.size()>;

// Bins for values that are not negative, of a quarter of an octave: 2^e (1 + k/4), from 2^-24 to 2^16. The first bin
// also has all smaller values, the last one all greater values.
struct OctaveBins {
  static constexpr int kFirstOctave = -24, kLastOctave = 16, kEach = 4;
  static constexpr std::size_t kEdges = (kLastOctave - kFirstOctave) * kEach + 1, kCount = kEdges + 1;
  // Returns the edge between bin k and bin k + 1.
  static double edge(std::size_t k);
};
using Histogram = std::array<std::uint32_t, OctaveBins::kCount>;

// Measures of one latent.
struct Measures {
  static constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

  std::array<double, kMetricNames.size()> values;  // by Metric; kAbsent where it is not defined
  double& operator[](Metric metric) { return values[static_cast<std::size_t>(metric)]; }
  double operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }

  // Distributions that the numbers average: [channels, frames] unless stated otherwise. A distribution is empty if the
  // shape does not allow it.
  std::vector<double> variance;         // variance over height and width
  std::vector<double> autocorrelation;  // 0 if a frame is constant
  std::vector<double> edge_density;
  std::vector<double> frame_correlation;                                  // [channels, frames - 1]
  std::vector<double> motion;                                             // [channels, frames - 1]
  std::vector<double> temporal_variance;                                  // [channels]
  std::vector<double> channel_mean, channel_variance, channel_magnitude;  // [channels]; magnitude: sum of |x|
  std::vector<double> channel_correlation;  // [channels (channels - 1) / 2], (0, 1), (0, 2), ... (1, 2), ...
  std::vector<double> cross_interaction;    // [frames]
  std::array<std::vector<double>, 3> patch_variance, patch_distinctiveness;  // patches of 4, 8, 16
  // Histograms over every patch in every frame and channel, and over every place in a patch; patches of 4, 8, 16.
  std::array<Histogram, 3> patch_variances{}, patch_distinctivenesses{};
  std::vector<double> spatial_spectrum;   // [min(height / 2, width / 2) - 1], of radius 1 and on
  std::vector<double> temporal_spectrum;  // [frames / 2 + 1]
  // Number of elements that are NaN or infinite; 1 if all are finite and a sum of them is beyond float32. If it is not
  // 0, nothing else is measured.
  std::uint64_t not_finite = 0;
};

// True if both have the same bits.
bool same_bits(const Measures& a, const Measures& b);

// Measures latents of one shape; holds the memory and the tables for that. Used by one thread at a time.
class Analyzer {
 public:
  // Throws Failure(usage) as check(shape) does.
  explicit Analyzer(const LatentShape& shape, const MetricSelection& wanted = every_metric());
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // Takes float16 or float32, row after row without gaps, in host memory; of the view's shape only the number of
  // elements matters. Throws Failure(usage) for anything else. `out` is overwritten; its memory is kept. The number of
  // a metric that is not wanted is absent; distributions of parts that are not computed are empty.
  // Throws Failure(cancelled) if `cancel` is set; it is checked between planes.
  void measure(const ArrayView& latent, Measures& out, const CancelToken* cancel = nullptr);
  // Returns the seconds of all calls so far, by Part.
  const StageSeconds& seconds() const;

  // Returns the bytes that an analyzer of this shape holds.
  static std::uint64_t bytes(const LatentShape& shape);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Moments of a channel's values over frames, height and width.
struct ChannelMoments {
  double count = 0, mean = 0, squares = 0;  // squares: sum of squared deviations from the mean

  // Returns the sample deviation (n - 1); 0 if there is none, or if it is lost in rounding.
  double deviation() const;
  // Joins moments as if the values of both had been one channel's (Chan, Golub, LeVeque 1983).
  void join(const ChannelMoments& other);
};
// Returns the moments of the channels. The view is as in Analyzer::measure().
std::vector<ChannelMoments> channel_moments(const ArrayView& latent, const LatentShape& shape);

// Scaling (x - less) * times, computed in float64 and rounded to float32.
struct ChannelScaling {
  double less = 0, times = 1;
};
// Returns the scaling to mean 0 and deviation 1; without a deviation, to mean 0.
ChannelScaling make_standardization(const ChannelMoments& moments);
// Scales the channels. `scalings` and `out` are [channels] and [elements]. Throws Failure(usage) if sizes do not match.
void scale_channels(const ArrayView& latent, const LatentShape& shape, std::span<const ChannelScaling> scalings,
                    std::span<float> out);

// Number of features that samples are distinguished by, as in the published analyser. The variance of every plane
// [channels, frames] comes first. With more than one frame, the variance over frames of every pixel [channels, height,
// width] follows. The sum of |x| of every channel is next; mean, deviation, greatest and least of all values are last.
// Variances are sample variances.
std::size_t feature_count(const LatentShape& shape);
// Computes the features. `out` is [feature_count()]. Throws Failure(usage) as Analyzer::measure() does.
void compute_features(const ArrayView& latent, const LatentShape& shape, std::span<float> out);

// Step from one latent of a video to the next, over all elements. `distance` is |now - before|. With a latent before
// these, `product` is (now - before) (before - earlier), and `change` is |(now - before) - (before - earlier)|. Numbers
// are kAbsent without that latent, or if elements are not finite.
struct Step {
  double distance = Measures::kAbsent, product = Measures::kAbsent, change = Measures::kAbsent;
};
// Compares latents of one shape, given as in Analyzer::measure(). Throws Failure(usage) for others.
Step measure_step(const ArrayView& now, const ArrayView& before, const ArrayView* previous);

// Trajectory of a video, made of its steps: docs/design/latents-statistics.md.
struct Trajectory {
  double path = 0, linearity, tortuosity, velocity, acceleration, turning_angle, half_life;
};
// Takes the steps to all latents but the first; `end_to_end` is |last - first|. Returns nothing if there are no steps,
// or one is absent.
std::optional<Trajectory> measure_trajectory(std::span<const Step> steps, double end_to_end);

}  // namespace millrace::latents
