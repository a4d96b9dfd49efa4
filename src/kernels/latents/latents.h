// Input: a latent of a diffusion model, [channels, frames, height, width], in memory.
// Output: one number for each metric, and the distributions that the numbers are means of.
// Never: reads a file, or knows other latents. Never gives a number that a shape or a content does not define: it is
//   absent.
//
// Definitions: docs/latents.md. The same bits at every CPU level: sums run in float32 along a row, in float64 across
// rows, in a fixed order; a product that is added to such a sum is rounded with it, once.
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

// Elements along each axis; of an image there is one frame.
struct Shape {
  int channels = 0, frames = 1, height = 0, width = 0;

  std::size_t pixels() const { return static_cast<std::size_t>(height) * static_cast<std::size_t>(width); }
  std::size_t planes() const { return static_cast<std::size_t>(channels) * static_cast<std::size_t>(frames); }
  std::size_t elements() const { return planes() * pixels(); }
  friend bool operator==(const Shape&, const Shape&) = default;
};
inline constexpr int kMostChannels = 128, kMostFrames = 4096, kMostSide = 4096;
// Failure(usage) for a shape without elements, or one beyond these.
void check(const Shape& shape);

// In the order of metrics.csv.
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

// By Metric. What only others need is not computed.
using Selection = std::bitset<kMetricNames.size()>;
inline Selection every_metric() { return Selection().set(); }

// What measuring is made of, in the order of its work.
inline constexpr std::array<std::string_view, 8> kPartNames = {
    "over time", "into planes", "pointwise", "patches", "products of channels", "spectra", "histograms", "numbers"};
enum class Part : std::uint8_t { time, turning, pointwise, patches, products, spectra, histograms, numbers };
using PartSeconds = std::array<double, kPartNames.size()>;

// Counts of values that are not negative, in bins of a quarter of an octave: 2^e (1 + k/4), from 2^-24 to 2^16; the
// first also has what is less, the last what is not.
struct OctaveBins {
  static constexpr int kFirstOctave = -24, kLastOctave = 16, kEach = 4;
  static constexpr std::size_t kEdges = (kLastOctave - kFirstOctave) * kEach + 1, kCount = kEdges + 1;
  // Between bin k and bin k + 1.
  static double edge(std::size_t k);
};
using Histogram = std::array<std::uint32_t, OctaveBins::kCount>;

// Of one latent.
struct Measures {
  static constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

  std::array<double, kMetricNames.size()> values;  // by Metric; kAbsent where it is not defined
  double& operator[](Metric metric) { return values[static_cast<std::size_t>(metric)]; }
  double operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }

  // What the numbers are means of: [channels, frames] where nothing else is said. Empty where a shape does not allow
  // it.
  std::vector<double> variance;         // over height and width
  std::vector<double> autocorrelation;  // 0 where a frame is constant
  std::vector<double> edge_density;
  std::vector<double> frame_correlation;                                  // [channels, frames - 1]
  std::vector<double> motion;                                             // [channels, frames - 1]
  std::vector<double> temporal_variance;                                  // [channels]
  std::vector<double> channel_mean, channel_variance, channel_magnitude;  // [channels]; magnitude: sum of |x|
  std::vector<double> channel_correlation;  // [channels (channels - 1) / 2], (0, 1), (0, 2), ... (1, 2), ...
  std::vector<double> cross_interaction;    // [frames]
  std::array<std::vector<double>, 3> patch_variance, patch_distinctiveness;  // of 4, 8, 16
  // Of every patch in every frame and channel; of every place in a patch. Of 4, 8, 16.
  std::array<Histogram, 3> patch_variances{}, patch_distinctivenesses{};
  std::vector<double> spatial_spectrum;   // [min(height / 2, width / 2) - 1], of radius 1 and on
  std::vector<double> temporal_spectrum;  // [frames / 2 + 1]
  // Elements that are NaN or infinite; 1 where all are finite and a sum of them is beyond float32. Where there are any
  // nothing else is measured.
  std::uint64_t not_finite = 0;
};

// Whether both are the same bits.
bool same_bits(const Measures& a, const Measures& b);

// Measures latents of one shape; holds the memory and the tables that this takes. One thread at a time.
class Analyzer {
 public:
  // Failure(usage) as check(shape) has it.
  explicit Analyzer(const Shape& shape, const Selection& wanted = every_metric());
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // float16 or float32, row after row without gaps, in host memory; the view's shape is only asked for its elements.
  // Failure(usage) for anything else. `out` is filled anew; its memory is kept. Of a metric that is not wanted the
  // number is absent; distributions that only such have are empty.
  // Failure(cancelled) where `cancel` says so, which is looked at between planes.
  void measure(const ArrayView& latent, Measures& out, const CancelToken* cancel = nullptr);
  // What all calls so far took, by Part.
  const PartSeconds& seconds() const;

  // What an analyzer of this shape holds.
  static std::uint64_t bytes(const Shape& shape);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A channel's values over frames, height and width.
struct ChannelMoments {
  double count = 0, mean = 0, squares = 0;  // squares: of deviations from the mean, summed

  // The sample deviation (n - 1); 0 where there is none, or where it is lost in rounding.
  double deviation() const;
  // As if the values of both had been one channel's (Chan, Golub, LeVeque 1983).
  void join(const ChannelMoments& other);
};
// [channels]. The view as Analyzer::measure() takes it.
std::vector<ChannelMoments> channel_moments(const ArrayView& latent, const Shape& shape);

// (x - less) * times, in float64, rounded to float32.
struct Scaling {
  double less = 0, times = 1;
};
// To mean 0 and deviation 1; what has no deviation, to mean 0.
Scaling standardizing(const ChannelMoments& moments);
// `scalings` and `out` are [channels] and [elements]. Failure(usage) where sizes do not fit together.
void scale_channels(const ArrayView& latent, const Shape& shape, std::span<const Scaling> scalings,
                    std::span<float> out);

// What samples are told apart by, as the published analyser does: the variance of every plane [channels, frames], the
// variance over frames of every pixel [channels, height, width], where there is more than one frame, the sum of |x| of
// every channel; mean, deviation, greatest, least of all. Variances are sample variances.
std::size_t feature_count(const Shape& shape);
// `out` is [feature_count()]. Failure(usage) as Analyzer::measure().
void features_of(const ArrayView& latent, const Shape& shape, std::span<float> out);

// From one latent to the next of a video: |now - before|, and, where there is one before that,
// (now - before) (before - earlier) and |(now - before) - (before - earlier)|, each over all elements. kAbsent where
// there is none, or where elements are not finite.
struct Step {
  double distance = Measures::kAbsent, product = Measures::kAbsent, change = Measures::kAbsent;
};
// All of one shape, as Analyzer::measure() takes them. Failure(usage) where they are not.
Step step_between(const ArrayView& now, const ArrayView& before, const ArrayView* earlier);

// What a video's steps make: docs/latents.md.
struct Trajectory {
  double path = 0, linearity, tortuosity, velocity, acceleration, turning_angle, half_life;
};
// Of its latents but the first one; `end_to_end` is |last - first|. Nothing where there are none, or one is absent.
std::optional<Trajectory> trajectory_of(std::span<const Step> steps, double end_to_end);

}  // namespace millrace::latents
