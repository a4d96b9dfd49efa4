#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

#include "src/kernels/elementary.h"
#include "src/kernels/latents/latents_finish.h"

namespace millrace::latents {
namespace {

template <typename Number, typename IsFinite>
std::uint64_t count_not_finite(const Number* values, std::size_t count, const IsFinite& is_finite) {
  return static_cast<std::uint64_t>(
      std::count_if(values, values + count, [&](Number value) { return !is_finite(value); }));
}

std::uint64_t count_not_finite(const LatentSource& source, std::size_t count) {
  if (source.half) {
    constexpr unsigned kExponent = 0x7C00;
    return count_not_finite(static_cast<const std::uint16_t*>(source.data), count,
                            [](std::uint16_t half) { return (half & kExponent) != kExponent; });
  }
  return count_not_finite(static_cast<const float*>(source.data), count, [](float v) { return std::isfinite(v); });
}

bool any_of(const MetricSelection& metrics, std::initializer_list<Metric> of) {
  return std::any_of(of.begin(), of.end(), [&](Metric metric) { return metrics[static_cast<std::size_t>(metric)]; });
}

// Calls body(list of a, the same list of b) for every list of numbers.
template <typename M, typename Body>
void for_lists(M& a, M& b, const Body& body) {
  for (const auto list :
       {&Measures::variance, &Measures::autocorrelation, &Measures::edge_density, &Measures::frame_correlation,
        &Measures::motion, &Measures::temporal_variance, &Measures::channel_mean, &Measures::channel_variance,
        &Measures::channel_magnitude, &Measures::channel_correlation, &Measures::cross_interaction,
        &Measures::spatial_spectrum, &Measures::temporal_spectrum}) {
    body(a.*list, b.*list);
  }
  for (std::size_t k = 0; k < kPatches.size(); ++k) {
    body(a.patch_variance[k], b.patch_variance[k]);
    body(a.patch_distinctiveness[k], b.patch_distinctiveness[k]);
  }
}

// Replaces every NaN by the same one: the sign of a NaN differs between processors.
void make_alike(std::vector<double>& values) {
  for (double& value : values)
    if (std::isnan(value)) value = Measures::kAbsent;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

}  // namespace

RequiredSums::RequiredSums(const MetricSelection& metrics)
    : patches(any_of(metrics,
                     {Metric::patch_4_variance, Metric::patch_4_distinctiveness, Metric::patch_8_variance,
                      Metric::patch_8_distinctiveness, Metric::patch_16_variance, Metric::patch_16_distinctiveness})),
      products(
          any_of(metrics, {Metric::channel_correlation, Metric::channel_cross_interaction,
                           Metric::complexity_effective_dimension, Metric::complexity_effective_dimension_centered})),
      spectra(any_of(metrics, {Metric::frequency_spatial_entropy, Metric::frequency_spatial_peak})),
      flatness(any_of(metrics, {Metric::complexity_spectral_flatness})),
      density(any_of(metrics, {Metric::information_density})),
      mutual(any_of(metrics, {Metric::information_mutual})),
      mutual_published(any_of(metrics, {Metric::information_mutual_published})) {}

Measures mark_not_finite(const LatentSource& source, std::size_t elements) {
  Measures out{};
  out.values.fill(Measures::kAbsent);
  // The elements may be finite and a sum of them beyond float32: then the count is 1.
  out.not_finite = std::max<std::uint64_t>(1, count_not_finite(source, elements));
  return out;
}

void finish_bins(const Sums& sums, const BinCounts& binned, const RequiredSums& wanted, const CountLogs& logs,
                 Measures& out) {
  const std::size_t channels = counted_channels(sums.shape);
  const auto total = static_cast<double>(sums.shape.pixels()), of_all = total * sums.shape.frames;
  if (wanted.density) {
    double density = 0;
    for (const Counts& counts : binned.density) density += entropy_of(counts, total, logs);
    out[Metric::information_density] = density / static_cast<double>(binned.density.size());
  }
  if (channels < 2) return;
  const auto mutual = [&](const PairTables& tables) {
    constexpr std::array<std::size_t, 6> kSecond = {1, 2, 3, 2, 3, 3};
    double sum = 0;
    int count = 0;
    for (std::size_t k = 0; k < kSecond.size(); ++k) {
      if (kSecond[k] >= channels) continue;
      sum += mutual_information(tables[k], of_all, logs);
      ++count;
    }
    return sum / count;
  };
  if (wanted.mutual) out[Metric::information_mutual] = mutual(binned.even);
  if (wanted.mutual_published) out[Metric::information_mutual_published] = mutual(binned.published);
}

void finish(const Sums& sums, const BinCounts& binned, const SpectrumPlan& plan, const MetricSelection& metrics,
            const CountLogs& logs, Measures& out) {
  const RequiredSums wanted(metrics);
  out = {};
  out.values.fill(Measures::kAbsent);
  finish_space(sums, out);
  if (wanted.patches) finish_patches(sums, out);
  finish_time(sums, out);
  finish_channels(sums, out);
  if (wanted.products) finish_products(sums, out);
  if (wanted.flatness) finish_flatness(sums, plan, out);
  if (wanted.spectra) finish_spectra(sums, plan, out);
  finish_bins(sums, binned, wanted, logs, out);
  for (std::size_t k = 0; k < out.values.size(); ++k)
    if (!metrics[k] || !std::isfinite(out.values[k])) out.values[k] = Measures::kAbsent;
  for_lists(out, out, [](std::vector<double>& values, std::vector<double>&) { make_alike(values); });
}

bool same_bits(const Measures& a, const Measures& b) {
  bool same = same_bits(std::span(a.values), std::span(b.values)) && a.not_finite == b.not_finite &&
              a.patch_variances == b.patch_variances && a.patch_distinctivenesses == b.patch_distinctivenesses;
  for_lists(a, b,
            [&](const auto& one, const auto& other) { same = same && same_bits(std::span(one), std::span(other)); });
  return same;
}

Sums::Sums(const LatentShape& of)
    : shape(of), groups((static_cast<std::size_t>(of.channels) + kLanes - 1) / kLanes), pilots(groups * kLanes) {
  const auto frames = static_cast<std::size_t>(shape.frames);
  times.resize(static_cast<std::size_t>(shape.channels));
  planes.resize(groups * frames);
  patches.resize(groups * frames);
  products.resize(frames * groups * groups * kLanes * kLanes);
  image.resize(shape.pixels());
  for (long f = 0; f < shape.frames; ++f) {
    cosines.push_back(cosine_of_turn(f, shape.frames));
    sines.push_back(sine_of_turn(f, shape.frames));
  }
}

void Sums::clear() {
  std::fill(planes.begin(), planes.end(), PlaneSums{});
  std::fill(patches.begin(), patches.end(), PatchSums{});
  patch_counts = {};
  std::fill(products.begin(), products.end(), 0.0);
  std::fill(image.begin(), image.end(), 0.0);
}

}  // namespace millrace::latents
