#include "src/jobs/latents/analysis/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/base/sizes.h"
#include "src/base/text.h"

namespace millrace::latents {
namespace {

struct FoundDifference {
  std::size_t pair, column;
};

std::string format_probability(double p) {
  // The permutations cannot show a smaller p-value.
  if (p <= 1.0 / (kPermutations + 1) * 1.5) return fmt::format("p <= {:.1g}", 1.0 / kPermutations);
  return fmt::format("p = {:.2g}", p);
}

std::string describe_difference(const Analysis& analysis, const FoundDifference& found) {
  const ComparisonColumn& column = analysis.columns[found.column];
  const PairTest& test = analysis.test(found.pair, found.column);
  const auto& [a, b] = test.comparison.moments;
  const auto [first, second] = analysis.pairs[found.pair];
  const std::string where = column.step ? fmt::format(" at step {}", *column.step)
                            : analysis.metrics[column.metric].starts_with("trajectory.")
                                ? ""
                                : fmt::format(" over {} steps", analysis.usual_steps.size());
  return fmt::format("{}{}: {} {:.4g}, {} {:.4g}, difference {:.3g} (95 % interval {:.3g} to {:.3g}), g = {:.2f}, {}",
                     analysis.metrics[column.metric], where, escape_unprintable(analysis.groups[first]), a.mean,
                     escape_unprintable(analysis.groups[second]), b.mean, a.mean - b.mean,
                     test.comparison.difference.low, test.comparison.difference.high, test.comparison.hedges_g,
                     format_probability(test.familywise));
}

}  // namespace

std::string describe_too_few_videos(const Analysis& analysis) {
  if (!analysis.no_tests.empty() || analysis.min_possible_p <= kAlpha) return "";
  return fmt::format(
      "too few videos per group: no corrected p can be below about {:.2g}, so no difference can be detected",
      analysis.min_possible_p);
}

namespace {

// Describes the step at which groups are farthest apart; p is corrected for the choice of that step.
std::string describe_separability(const SeparabilityResult& separability) {
  const StepSeparability* most = nullptr;
  for (const StepSeparability& at : separability.steps) {
    const double ratio = at.found.standardized.ratio;
    if (ratio == ratio && (most == nullptr || ratio > most->found.standardized.ratio)) most = &at;
  }
  if (most == nullptr) return "";
  return fmt::format(
      "all features together (separability): {} step {}, distances between groups {:.3g} times those within, {}",
      most->corrected_p <= kAlpha ? "groups differ most at" : "no difference at the largest distance ratio,",
      most->step, most->found.standardized.ratio, format_probability(most->corrected_p));
}

std::vector<std::string> describe_metrics(const Analysis& analysis) {
  if (!analysis.no_tests.empty()) return {"no tests were made: " + analysis.no_tests};
  std::vector<FoundDifference> found;
  std::set<std::size_t> metrics, tested;
  std::size_t tests = 0;
  double least = 1;
  for (std::size_t p = 0; p < analysis.pairs.size(); ++p) {
    for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
      const PairTest& test = analysis.test(p, c);
      if (test.familywise != test.familywise) continue;
      ++tests;
      tested.insert(analysis.columns[c].metric);
      least = std::min(least, test.familywise);
      if (!(test.familywise <= kAlpha)) continue;
      metrics.insert(analysis.columns[c].metric);
      found.push_back({p, c});
    }
  }
  if (tests == 0) return {"no tests were made: no metric varies among the videos of two groups"};
  if (const std::string few = describe_too_few_videos(analysis); found.empty() && !few.empty()) return {few};
  if (found.empty()) {
    return {
        fmt::format("no difference between groups was found in {} tests of {} metrics (smallest {} after correction); "
                    "this does not show that there is none",
                    group_digits(tests), tested.size(), format_probability(least))};
  }
  std::vector<std::string> out = {
      fmt::format("{} of {} metrics differ between at least two groups (p <= {} after correction for {} tests); the "
                  "largest differences:",
                  metrics.size(), tested.size(), kAlpha, group_digits(tests))};
  // Differences are sorted by their size relative to the spread (Hedges' g); one line per metric is shown.
  const auto size = [&](const FoundDifference& f) {
    return std::fabs(analysis.test(f.pair, f.column).comparison.hedges_g);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const FoundDifference& a, const FoundDifference& b) { return size(a) > size(b); });
  constexpr std::size_t kShown = 3;
  std::set<std::size_t> shown;
  for (const FoundDifference& f : found) {
    if (shown.size() == kShown) break;
    if (shown.insert(analysis.columns[f.column].metric).second) out.push_back(describe_difference(analysis, f));
  }
  return out;
}

}  // namespace

std::vector<std::string> describe_findings(const Analysis& analysis, const SeparabilityResult& separability) {
  std::vector<std::string> out = describe_metrics(analysis);
  if (std::string words = describe_separability(separability); !words.empty()) out.push_back(std::move(words));
  return out;
}

}  // namespace millrace::latents
