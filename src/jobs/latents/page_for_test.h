// Views of made-up numbers, for tests of the page and for a program that shows it without a run.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "src/jobs/latents/page.h"
#include "src/kernels/elementary.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

struct SampleViewOptions {
  std::size_t groups = 6, videos = 12;
  long long steps = 20;
  int channels = 16;
  // True: every third metric of the last group differs from the first group's, in the later half of the steps.
  bool differences = true;
};

// Returns a pseudo-random number between -1 and 1, the same on every machine.
inline double random_number(std::uint64_t n) {
  n = (n + 1) * 6364136223846793005ULL;
  n ^= n >> 29;
  n *= 1442695040888963407ULL;
  n ^= n >> 32;
  return static_cast<double>(n >> 11) / 4503599627370496.0 - 1;
}

inline PairResult make_sample_result(const SampleViewOptions& made, std::size_t a, std::size_t b, std::size_t metric,
                                     long long step, bool differs) {
  PairResult one;
  one.a = a;
  one.b = b;
  one.metric = metric;
  one.step = step;
  one.n_a = one.n_b = made.videos;
  const double chance = random_number(metric * 1009 + static_cast<std::uint64_t>(step + 1) * 31 + a * 7 + b);
  const double deviation = 0.1 + 0.01 * static_cast<double>(metric);
  one.hedges_g = differs ? -1.6 - 0.8 * std::fabs(chance) : 0.7 * chance;
  one.cohens_d = one.hedges_g * 1.03;
  one.mean_a = 0.8 + 0.05 * static_cast<double>(a);
  one.mean_b = one.mean_a - one.hedges_g * deviation;
  one.low = one.mean_a - one.mean_b - 0.6 * deviation;
  one.high = one.mean_a - one.mean_b + 0.7 * deviation;
  one.p_permutation = differs ? 0.0004 : 0.02 + 0.98 * std::fabs(chance);
  one.p_family =
      differs ? (chance > 0.4 ? 1.0 / 10'001 : 0.001 + 0.03 * std::fabs(chance)) : 0.2 + 0.8 * std::fabs(chance);
  one.p_holm = one.p_bh = std::fmin(1, one.p_permutation * 20);
  return one;
}

inline GroupCurve make_sample_curve(const SampleViewOptions& made, std::size_t group, std::size_t metric) {
  GroupCurve curve;
  for (long long step = 0; step < made.steps; ++step) {
    const double t = static_cast<double>(step) / static_cast<double>(std::max(made.steps - 1, 1LL));
    const double noise = random_number(metric * 977 + group * 13 + static_cast<std::uint64_t>(step) * 101);
    const double apart = made.differences && group + 1 == made.groups && metric % 3 == 0 ? 0.3 * t : 0;
    const double mean = 1 - 0.7 * t + apart + 0.03 * noise + 0.02 * static_cast<double>(group);
    curve.mean.push_back(mean);
    curve.low.push_back(mean - 0.05 - 0.01 * noise);
    curve.high.push_back(mean + 0.06 + 0.01 * noise);
  }
  return curve;
}

inline void add_sample_distributions(const SampleViewOptions& made, AnalysisView& view) {
  view.channels = made.channels;
  const auto channels = static_cast<std::size_t>(made.channels);
  for (std::size_t g = 0; g < made.groups; ++g) {
    std::vector<double> variance, correlation;
    for (std::size_t a = 0; a < channels; ++a) {
      variance.push_back(1 + 0.6 * random_number(a * 3 + g));
      for (std::size_t b = a + 1; b < channels; ++b)
        correlation.push_back(0.9 * random_number(a * 64 + b) + 0.05 * random_number(a + b * 7 + g));
    }
    view.channel_variance.push_back(std::move(variance));
    view.channel_correlation.push_back(std::move(correlation));
  }
  view.spectrum_steps = {0, made.steps / 2, made.steps - 1};
  for (int s = 0; s < 3; ++s) {
    std::vector<std::vector<double>> spectra;
    for (std::size_t g = 0; g < made.groups; ++g) {
      std::vector<double> spectrum;
      for (int k = 1; k < 30; ++k) spectrum.push_back(1e3 / (1 + s * k * k * (0.1 + 0.02 * static_cast<double>(g))));
      spectra.push_back(std::move(spectrum));
    }
    view.spectra.push_back(std::move(spectra));
  }
  for (long long step = 0; step < made.steps; ++step) {
    SeparabilityAtStep at;
    at.step = step;
    at.ratio = 1 + 0.04 * static_cast<double>(step) * (made.differences ? 1 : 0.1);
    at.ratio_published = at.ratio - 0.05;
    at.silhouette = at.ratio - 1.1;
    at.p = at.ratio > 1.3 ? 1.0 / 10'001 : 0.4;
    at.p_corrected = std::min(1.0, at.p * static_cast<double>(made.steps));
    at.explained = {0.31, 0.14};
    for (std::size_t i = 0; i < made.groups * made.videos; ++i) {
      const std::size_t g = i % made.groups;
      const double far = at.ratio - 1;
      at.points.push_back(
          {30 * far * cosine_of_turn(static_cast<long>(g), static_cast<long>(made.groups)) + 5 * random_number(i * 2),
           30 * far * sine_of_turn(static_cast<long>(g), static_cast<long>(made.groups)) +
               5 * random_number(i * 2 + 1)});
      at.group_of_point.push_back(g);
    }
    view.separability.push_back(std::move(at));
  }
}

inline AnalysisView make_sample_view(const SampleViewOptions& made = {}) {
  constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
  AnalysisView view;
  for (std::size_t g = 0; g < made.groups; ++g) {
    view.groups.push_back(fmt::format("prompt_{:03}", g));
    view.videos.push_back(made.videos);
  }
  for (long long step = 0; step < made.steps; ++step) view.steps.push_back(step);
  for (const std::string_view name : kMetricNames) view.metrics.emplace_back(name);
  const std::size_t by_step = view.metrics.size();
  for (const char* name :
       {"path", "linearity", "tortuosity", "velocity", "acceleration", "turning_angle", "half_life"}) {
    view.metrics.push_back(std::string("trajectory.") + name);
  }
  view.permutations = view.bootstraps = 10'000;
  view.seed = 1;
  for (std::size_t g = 0; g < made.groups; ++g) {
    view.curves.emplace_back();
    for (std::size_t m = 0; m < view.metrics.size(); ++m) {
      const double whole = 3 + 0.2 * static_cast<double>(g) + random_number(m);
      view.curves[g].push_back(m < by_step ? make_sample_curve(made, g, m)
                                           : GroupCurve{{whole}, {whole - 0.2}, {whole + 0.3}});
    }
  }
  for (std::size_t a = 0; a < made.groups; ++a) {
    for (std::size_t b = a + 1; b < made.groups; ++b) {
      for (std::size_t m = 0; m < view.metrics.size(); ++m) {
        for (long long step = 0; m < by_step && step < made.steps; ++step) {
          const bool differs =
              made.differences && b + 1 == made.groups && a == 0 && m % 3 == 0 && step >= made.steps / 2;
          view.results.push_back(make_sample_result(made, a, b, m, step, differs));
        }
        // The result for all steps together is outside of the family.
        view.results.push_back(make_sample_result(made, a, b, m, -1, false));
        view.results.back().p_family = kAbsent;
      }
    }
  }
  add_sample_distributions(made, view);
  return view;
}

// Returns a view of groups of one video each, which has numbers but no comparisons.
inline AnalysisView make_single_video_view() {
  constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
  SampleViewOptions made;
  made.groups = 2;
  made.videos = 1;
  AnalysisView view = make_sample_view(made);
  for (PairResult& one : view.results) {
    for (double* number : {&one.t, &one.df, &one.p_welch, &one.p_holm, &one.p_bh, &one.cohens_d, &one.hedges_g, &one.u,
                           &one.p_mann_whitney, &one.p_permutation, &one.p_family, &one.low, &one.high}) {
      *number = kAbsent;
    }
  }
  for (auto& curves : view.curves) {
    for (GroupCurve& curve : curves) {
      curve.low.assign(curve.mean.size(), kAbsent);
      curve.high.assign(curve.mean.size(), kAbsent);
    }
  }
  view.separability.clear();
  view.separability_note = "No group has two videos, so there is no distance within a group.";
  return view;
}

}  // namespace millrace::latents
