#include "src/kernels/statistics/compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/kernels/statistics/distributions.h"

namespace millrace::statistics {
namespace {

// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr double kRounding = std::numeric_limits<double>::epsilon();
constexpr double kOutside = 0.05;  // outside of an interval of 95 %

// Mann and Whitney's U of the first sample, and the sum of ties^3 - ties.
struct Ranks {
  double u = 0, ties = 0;
};
Ranks rank(std::vector<double> first, std::vector<double> second) {
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  Ranks out;
  std::size_t i = 0, j = 0;
  while (i < first.size() || j < second.size()) {
    const double value = j == second.size() || (i < first.size() && first[i] <= second[j]) ? first[i] : second[j];
    std::size_t same_first = 0, same_second = 0;
    for (; i < first.size() && first[i] == value; ++i) ++same_first;
    const auto below = static_cast<double>(j);
    for (; j < second.size() && second[j] == value; ++j) ++same_second;
    out.u += static_cast<double>(same_first) * (below + static_cast<double>(same_second) / 2);
    const auto tied = static_cast<double>(same_first + same_second);
    out.ties += tied * tied * tied - tied;
  }
  return out;
}

double mann_whitney_p(double u, double n1, double n2, double ties) {
  const double n = n1 + n2;
  const double deviation = std::sqrt(n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1))));
  const double z = (std::max(u, n1 * n2 - u) - n1 * n2 / 2 - 0.5) / deviation;
  return z <= 0 ? 1 : normal_two_sided(z);
}

std::vector<double> present(std::span<const double> sample) {
  std::vector<double> out;
  for (const double value : sample)
    if (value == value) out.push_back(value);
  return out;
}

}  // namespace

Moments moments_of(std::span<const double> sample) {
  Moments out;
  double sum = 0, least = 0, most = 0;
  for (const double value : sample) {
    if (value != value) continue;
    least = out.count == 0 ? value : std::min(least, value);
    most = out.count == 0 ? value : std::max(most, value);
    sum += value;
    ++out.count;
  }
  if (out.count == 0) return out;
  const auto n = static_cast<double>(out.count);
  if (least == most) {
    out.mean = least;
    if (out.count > 1) out.deviation = 0;
    return out;
  }
  const double about = sum / n;
  double rest = 0, squares = 0;
  for (const double value : sample) {
    if (value != value) continue;
    rest += value - about;
    squares += (value - about) * (value - about);
  }
  out.mean = about + rest / n;
  out.mean_rest = (about - out.mean) + rest / n;
  out.deviation = std::sqrt((squares - rest * rest / n) / (n - 1));
  return out;
}

Interval interval_of(const Moments& moments) {
  if (moments.count < 2) return {};
  const auto n = static_cast<double>(moments.count);
  const double reach = student_critical(kOutside, n - 1) * moments.deviation / std::sqrt(n);
  return {moments.mean - reach, moments.mean + reach};
}

UntestedReason find_untested_reason(const Moments& first, const Moments& second) {
  if (first.count == 0 || second.count == 0) return UntestedReason::absent;
  if (first.count < 2 || second.count < 2) return UntestedReason::too_few;
  // Numbers that differ only in their last bits are equal ones that were rounded differently.
  const auto constant = [](const Moments& of) { return of.deviation <= kRounding * std::fabs(of.mean); };
  if (constant(first) && constant(second)) return UntestedReason::no_variance;
  return UntestedReason::none;
}

SampleComparison compare(std::span<const double> first, std::span<const double> second) {
  SampleComparison out;
  const std::vector<double> a = present(first), b = present(second);
  const Moments &of_a = out.moments[0] = moments_of(a), &of_b = out.moments[1] = moments_of(b);
  out.reason = find_untested_reason(of_a, of_b);
  if (out.reason == UntestedReason::absent) return out;
  const Ranks ranks = rank(a, b);
  out.u = ranks.u;
  if (out.reason != UntestedReason::none) return out;
  const auto n1 = static_cast<double>(a.size()), n2 = static_cast<double>(b.size());
  const double v1 = of_a.deviation * of_a.deviation, v2 = of_b.deviation * of_b.deviation;
  const double e1 = v1 / n1, e2 = v2 / n2, difference = (of_a.mean - of_b.mean) + (of_a.mean_rest - of_b.mean_rest);
  out.t = difference / std::sqrt(e1 + e2);
  const double share1 = e1 / (e1 + e2), share2 = e2 / (e1 + e2);
  out.df = 1 / (share1 * share1 / (n1 - 1) + share2 * share2 / (n2 - 1));
  out.p = student_two_sided(out.t, out.df);
  const double reach = student_critical(kOutside, out.df) * std::sqrt(e1 + e2);
  out.difference = {difference - reach, difference + reach};
  const double df = n1 + n2 - 2;
  out.cohens_d = difference / std::sqrt(((n1 - 1) * v1 + (n2 - 1) * v2) / df);
  out.hedges_g = out.cohens_d * hedges_correction(df);
  out.u_p = mann_whitney_p(out.u, n1, n2, ranks.ties);
  return out;
}

}  // namespace millrace::statistics
