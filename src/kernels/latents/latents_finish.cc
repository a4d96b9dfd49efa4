#include "src/kernels/latents/latents_finish.h"

#include <algorithm>
#include <cmath>

#include "src/kernels/elementary.h"
#include "src/kernels/symmetric_eigen.h"

namespace millrace::latents {
namespace {

// Share of squares that float32 sums along a row lose, with a margin: docs/design/latents-statistics.md.
constexpr double kConstant = 1e-5;
// Share of the squares of frames' values up to which the squared means of frames count as 0.
constexpr double kNoMeans = 1e-10;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? Measures::kAbsent : sum / static_cast<double>(values.size());
}

double entropy_of_shares(std::span<const double> shares) {
  double all = 0, sum = 0;
  for (const double share : shares) all += share;
  for (const double share : shares) {
    if (share > 0) sum -= share / all * logarithm(share / all);
  }
  return sum;
}

// Returns the entropy of a histogram of ten bins of equal width over the values' own range.
double entropy_of_ten(const std::vector<double>& values) {
  constexpr std::size_t kTen = 10;
  auto [least, most] = std::minmax_element(values.begin(), values.end());
  double low = *least, high = *most;
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  std::array<double, kTen> counts{};
  const double step = (high - low) / kTen;
  for (const double value : values) {
    std::size_t bin = 0;
    while (bin + 1 < kTen && value >= static_cast<double>(bin + 1) * step + low) ++bin;
    ++counts[bin];
  }
  return entropy_of_shares(counts);
}

Side minus(const Side& all, const Sum& sum, const Sum& squares, std::size_t lane) {
  return {all.sum - sum[lane], all.squares - squares[lane]};
}

}  // namespace

double deviations(const Side& side, double n) {
  const double out = side.squares - side.sum * side.sum / n;
  return out > kConstant * side.squares ? out : 0;
}

double MeanCorrelation::add(double product, const Side& a, const Side& b, double n) {
  ++count_;
  const double aa = deviations(a, n), bb = deviations(b, n);
  if (aa == 0 || bb == 0) return 0;
  defined_ = true;
  const double r = (product - a.sum * b.sum / n) / std::sqrt(aa * bb);
  sum_ += r;
  return r;
}

void finish_space(const Sums& sums, Measures& out) {
  const LatentShape& shape = sums.shape;
  const auto h = static_cast<double>(shape.height), w = static_cast<double>(shape.width), n = h * w;
  const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
  const bool both_ways = shape.height > 1 && shape.width > 1;
  const int columns = shape.width / 2, rows = shape.height / 2;
  const double half_w = columns, half_h = rows;
  MeanCorrelation cyclic, valid, mirrored, published;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t lane = c % kLanes;
    for (std::size_t f = 0; f < frames; ++f) {
      const PlaneSums& p = sums.plane(c, f);
      const Side all = sums.side(c, f);
      if (n > 1) {
        out.variance.push_back(deviations(all, n) / (n - 1));
        const double across = cyclic.add(p.lag_x[lane] + p.wrap_x[lane], all, all, n);
        const double down = cyclic.add(p.lag_y[lane] + p.wrap_y[lane], all, all, n);
        out.autocorrelation.push_back(0.5 * (across + down));
      }
      if (!both_ways) continue;
      valid.add(p.lag_y[lane], minus(all, p.first_row, p.first_row_squares, lane),
                minus(all, p.last_row, p.last_row_squares, lane), n - w);
      valid.add(p.lag_x[lane], minus(all, p.first_column, p.first_column_squares, lane),
                minus(all, p.last_column, p.last_column_squares, lane), n - h);
      out.edge_density.push_back(0.5 * (p.step_x[lane] / (n - h) + p.step_y[lane] / (n - w)));
      const Side left{p.left[lane], p.left_squares[lane]}, top{p.top[lane], p.top_squares[lane]};
      const bool odd_w = shape.width % 2 == 1, odd_h = shape.height % 2 == 1;
      const Side beside = minus(all, p.left, p.left_squares, lane), below = minus(all, p.top, p.top_squares, lane);
      const Side right = odd_w ? minus(beside, p.middle_column, p.middle_column_squares, lane) : beside;
      const Side bottom = odd_h ? minus(below, p.middle_row, p.middle_row_squares, lane) : below;
      mirrored.add(p.mirror_x[lane], left, right, h * half_w);
      mirrored.add(p.mirror_y[lane], top, bottom, w * half_h);
      published.add(odd_w ? p.published_x[lane] : p.mirror_x[lane], left,
                    odd_w ? minus(beside, p.last_column, p.last_column_squares, lane) : beside, h * half_w);
      published.add(odd_h ? p.published_y[lane] : p.mirror_y[lane], top,
                    odd_h ? minus(below, p.last_row, p.last_row_squares, lane) : below, w * half_h);
    }
  }
  out[Metric::spatial_variance] = mean_of(out.variance);
  out[Metric::spatial_edge_density] = mean_of(out.edge_density);
  if (n > 1) {
    out[Metric::spatial_autocorrelation] = cyclic.mean();
    out[Metric::global_structural_entropy] = entropy_of_ten(out.variance);
  }
  if (both_ways) {
    out[Metric::spatial_autocorrelation_valid] = valid.mean();
    out[Metric::global_symmetry] = mirrored.mean();
    out[Metric::global_symmetry_published] = published.mean();
  }
}

namespace {

Histogram sum_of(const PatchCounts::OfLanes& lanes) {
  Histogram out{};
  for (const Histogram& lane : lanes)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += lane[k];
  return out;
}

}  // namespace

void finish_patches(const Sums& sums, Measures& out) {
  const LatentShape& shape = sums.shape;
  const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
  for (std::size_t k = 0; k < kPatches.size(); ++k) {
    out.patch_variances[k] = sum_of(sums.patch_counts.variance[k]);
    out.patch_distinctivenesses[k] = sum_of(sums.patch_counts.distinctiveness[k]);
  }
  for (std::size_t k = 0; k < kPatches.size(); ++k) {
    const int side = kPatches[k];
    const int patches = (shape.height / side) * (shape.width / side);
    if (patches == 0) continue;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t f = 0; f < frames; ++f) {
        out.patch_variance[k].push_back(sums.patch(c, f).variance[k][c % kLanes]);
        if (patches > 1) out.patch_distinctiveness[k].push_back(sums.patch(c, f).distinctiveness[k][c % kLanes]);
      }
    }
    out.values[static_cast<std::size_t>(Metric::patch_4_variance) + 2 * k] = mean_of(out.patch_variance[k]);
    out.values[static_cast<std::size_t>(Metric::patch_4_distinctiveness) + 2 * k] =
        mean_of(out.patch_distinctiveness[k]);
  }
}

namespace {

struct Cyclic {
  double at_one = 0, at_zero = 0;
};
Cyclic cyclic(const std::vector<double>& series, double less) {
  Cyclic out;
  for (std::size_t f = 0; f < series.size(); ++f) {
    const double here = series[f] - less, next = series[(f + 1) % series.size()] - less;
    out.at_one += here * next;
    out.at_zero += here * here;
  }
  return out;
}

}  // namespace

void finish_time(const Sums& sums, Measures& out) {
  const LatentShape& shape = sums.shape;
  if (shape.frames < 2) return;
  const auto n = static_cast<double>(shape.pixels());
  const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
  MeanCorrelation frame_correlation;
  double plain = 0, centered = 0, of_plain = 0, of_centered = 0;  // sums, and numbers of channels
  out.temporal_spectrum.assign(frames / 2 + 1, 0.0);
  std::vector<double> series(frames);
  for (std::size_t c = 0; c < channels; ++c) {
    const TimeSums& time = sums.times[c];
    double squares = 0, about_pilot = 0, mean = 0;
    for (std::size_t f = 0; f < frames; ++f) {
      const Side side = sums.side(c, f);
      const double pilot = sums.pilots[c];
      series[f] = pilot + side.sum / n;
      mean += series[f] / static_cast<double>(frames);
      about_pilot += side.squares / n;
      squares += (side.squares + 2 * pilot * side.sum) / n + pilot * pilot;
      if (f == 0) continue;
      out.frame_correlation.push_back(frame_correlation.add(time.product[f], sums.side(c, f - 1), side, n));
      out.motion.push_back(time.motion[f] / n);
    }
    out.temporal_variance.push_back(time.temporal / n);
    if (const Cyclic found = cyclic(series, 0); found.at_zero > kNoMeans * squares) {
      plain += found.at_one / found.at_zero;
      ++of_plain;
    }
    if (const Cyclic found = cyclic(series, mean); found.at_zero > kNoMeans * about_pilot) {
      centered += found.at_one / found.at_zero;
      ++of_centered;
    }
    for (std::size_t k = 0; k < out.temporal_spectrum.size(); ++k) {
      double re = 0, im = 0;
      for (std::size_t f = 0; f < frames; ++f) {
        re += series[f] * sums.cosines[k * f % frames];
        im += series[f] * sums.sines[k * f % frames];
      }
      out.temporal_spectrum[k] += (re * re + im * im) / static_cast<double>(channels);
    }
  }
  out[Metric::temporal_frame_correlation] = frame_correlation.mean();
  out[Metric::temporal_motion] = mean_of(out.motion);
  out[Metric::temporal_variance] = mean_of(out.temporal_variance);
  if (of_plain > 0) out[Metric::temporal_autocorrelation] = plain / of_plain;
  if (of_centered == 0) return;
  // Cyclic autocorrelation of two or three frames is -1 or -1/2, whatever they hold.
  constexpr std::size_t kMinFrames = 4;
  if (frames >= kMinFrames) out[Metric::temporal_autocorrelation_centered] = centered / of_centered;
  const auto from = out.temporal_spectrum.begin() + 1;
  out[Metric::frequency_temporal_dominant] =
      static_cast<double>(1 + (std::max_element(from, out.temporal_spectrum.end()) - from));
}

namespace {

// Returns the sums of each channel over all frames.
std::vector<Side> whole_channels(const Sums& sums) {
  std::vector<Side> out(static_cast<std::size_t>(sums.shape.channels));
  for (std::size_t c = 0; c < out.size(); ++c) {
    for (std::size_t f = 0; f < static_cast<std::size_t>(sums.shape.frames); ++f) {
      out[c].sum += sums.side(c, f).sum;
      out[c].squares += sums.side(c, f).squares;
    }
  }
  return out;
}

}  // namespace

void finish_channels(const Sums& sums, Measures& out) {
  const LatentShape& shape = sums.shape;
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto pixels = static_cast<double>(shape.pixels()), n = pixels * shape.frames;
  const std::vector<Side> all = whole_channels(sums);
  double magnitude = 0, energy = 0, mean = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    const double pilot = sums.pilots[c];
    out.channel_mean.push_back(pilot + all[c].sum / n);
    if (n > 1) out.channel_variance.push_back(deviations(all[c], n) / (n - 1));
    out.channel_magnitude.push_back(sums.times[c].magnitude);
    magnitude += out.channel_magnitude.back();
    mean += out.channel_mean.back() / static_cast<double>(channels);
    energy += all[c].squares + 2 * pilot * all[c].sum + n * pilot * pilot;
  }
  out[Metric::global_mean] = mean;
  out[Metric::global_energy] = energy / (n * static_cast<double>(channels));
  if (n > 1) out[Metric::channel_variance] = mean_of(out.channel_variance) * static_cast<double>(channels);
  if (n * static_cast<double>(channels) > 1) {
    double squares = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      const double off = out.channel_mean[c] - mean;
      squares += deviations(all[c], n) + n * off * off;
    }
    out[Metric::global_variance] = squares / (n * static_cast<double>(channels) - 1);
  }
  // A single channel always has the whole magnitude.
  if (magnitude > 0 && channels > 1) {
    std::vector<double> shares;
    for (const double own : out.channel_magnitude) shares.push_back(own / magnitude);
    out[Metric::channel_dominance] = *std::max_element(shares.begin(), shares.end());
    out[Metric::channel_dominance_entropy] = entropy_of_shares(shares);
  }
}

void finish_products(const Sums& sums, Measures& out) {
  const LatentShape& shape = sums.shape;
  const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
  const auto pixels = static_cast<double>(shape.pixels()), n = pixels * shape.frames;
  const std::vector<Side> all = whole_channels(sums);
  std::vector<double> plain(channels * channels), centered(channels * channels);
  MeanCorrelation correlation, interaction;
  for (std::size_t a = 0; a < channels; ++a) {
    for (std::size_t b = a; b < channels; ++b) {
      double product = 0;
      for (std::size_t f = 0; f < frames; ++f) product += sums.product(a, b, f);
      const double pilot_a = sums.pilots[a], pilot_b = sums.pilots[b];
      const double about_zero = product + pilot_a * all[b].sum + pilot_b * all[a].sum + n * pilot_a * pilot_b;
      const double about_mean = a == b ? deviations(all[a], n) : product - all[a].sum * all[b].sum / n;
      plain[a * channels + b] = plain[b * channels + a] = about_zero;
      centered[a * channels + b] = centered[b * channels + a] = about_mean;
      if (a != b) out.channel_correlation.push_back(correlation.add(product, all[a], all[b], n));
    }
  }
  if (channels > 1) {
    for (std::size_t f = 0; f < frames; ++f) {
      double sum = 0;
      for (std::size_t a = 0; a < channels; ++a)
        for (std::size_t b = a + 1; b < channels; ++b)
          sum += interaction.add(sums.product(a, b, f), sums.side(a, f), sums.side(b, f), pixels);
      out.cross_interaction.push_back(sum / static_cast<double>(out.channel_correlation.size()));
    }
    out[Metric::channel_correlation] = correlation.mean();
    out[Metric::channel_cross_interaction] = interaction.mean();
  }
  const auto dimension = [&](const std::vector<double>& matrix) {
    const std::vector<double> values = eigenvalues(matrix, channels);
    double total = 0, sum = 0;
    for (const double value : values) total += value;
    if (!(total > 0)) return Measures::kAbsent;
    for (std::size_t k = 0; k < channels; ++k) {
      sum += values[k];
      if (sum / total >= 0.95) return static_cast<double>(k + 1);
    }
    return static_cast<double>(channels);
  };
  out[Metric::complexity_effective_dimension] = dimension(plain);
  out[Metric::complexity_effective_dimension_centered] = dimension(centered);
}

void finish_flatness(const Sums& sums, const SpectrumPlan& plan, Measures& out) {
  const auto height = static_cast<std::size_t>(plan.height), bins = static_cast<std::size_t>(plan.width / 2 + 1);
  // Returns the weight of a bin in the whole plane, of which only half was computed: the other half mirrors it.
  const auto weight = [&](std::size_t kx) {
    return kx == 0 || (plan.width % 2 == 0 && 2 * kx == static_cast<std::size_t>(plan.width)) ? 1.0 : 2.0;
  };
  constexpr double kNothing = 1e-20;
  const double greatest = *std::max_element(sums.image_power.begin(), sums.image_power.end());
  double logs = 0, power = 0, count = 0;
  for (std::size_t kx = 0; kx < bins; ++kx) {
    for (std::size_t ky = 0; ky < height; ++ky) {
      const double p = sums.image_power[kx * height + ky];
      if (p <= kNothing * greatest) continue;
      logs += weight(kx) * logarithm(p);
      power += weight(kx) * p;
      count += weight(kx);
    }
  }
  const bool only_mean = count == 0 || (count == 1 && sums.image_power[0] > kNothing * greatest);
  if (!only_mean) out[Metric::complexity_spectral_flatness] = exponential(logs / count) / (power / count);
}

void finish_spectra(const Sums& sums, const SpectrumPlan& plan, Measures& out) {
  const auto height = static_cast<std::size_t>(plan.height);
  if (plan.radii < 1) return;
  std::vector<double> profile(static_cast<std::size_t>(plan.radii)), members(profile.size());
  for (std::size_t bin = 0; bin < plan.rings.size(); ++bin) {
    if (plan.rings[bin] == 0) continue;
    const double twice = bin < height ? 1 : 2;
    profile[plan.rings[bin] - 1] += twice * sums.power[bin];
    members[plan.rings[bin] - 1] += twice;
  }
  for (std::size_t k = 0; k < profile.size(); ++k) profile[k] /= members[k] * static_cast<double>(sums.shape.planes());
  const bool constant = std::all_of(out.variance.begin(), out.variance.end(), [](double v) { return v == 0; });
  if (!constant) {
    out[Metric::frequency_spatial_entropy] = entropy_of_shares(profile);
    out[Metric::frequency_spatial_peak] =
        static_cast<double>(1 + (std::max_element(profile.begin(), profile.end()) - profile.begin()));
  }
  out.spatial_spectrum = std::move(profile);
}

}  // namespace millrace::latents
