#include "src/jobs/latents/page_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/report/number_format.h"

namespace millrace::latents {
namespace {

using report::format_number;

// Size of an effect; an absent one is smaller than all others.
double size_of(const PairResult& result) {
  return result.hedges_g == result.hedges_g ? std::fabs(result.hedges_g) : -1;
}

// True if the first result is stronger: of two that differ, the larger effect; else the smaller p; else the earlier
// one.
bool is_stronger(const PairResult& a, const PairResult& b) {
  if (differs(a) != differs(b)) return differs(a);
  if (differs(a) && size_of(a) != size_of(b)) return size_of(a) > size_of(b);
  if (a.p_family != b.p_family) return a.p_family < b.p_family;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b);
  return std::tie(a.metric, a.a, a.b, a.step) < std::tie(b.metric, b.a, b.b, b.step);
}

// Shortens a name to the room in a sentence or a cell; the page's last table of groups has the whole name.
std::string format_name(const std::string& name) { return report::shorten_middle(escape_unprintable(name), 36); }

// Returns a text such as "3 to 12 videos per group".
std::string format_videos(const AnalysisView& view) {
  if (view.videos.empty()) return "no videos";
  const auto [least, most] = std::minmax_element(view.videos.begin(), view.videos.end());
  if (*least == *most) return fmt::format("{} {} per group", group_digits(*least), *least == 1 ? "video" : "videos");
  return fmt::format("{} to {} videos per group", group_digits(*least), group_digits(*most));
}

std::size_t count_comparisons(const AnalysisView& view) {
  return static_cast<std::size_t>(std::count_if(view.results.begin(), view.results.end(), is_in_family));
}

struct MetricCounts {
  std::size_t tested = 0, differing = 0;  // numbers of metrics
};

MetricCounts count_metrics(const std::vector<Finding>& findings) {
  std::set<std::size_t> tested, differing;
  for (const Finding& finding : findings) {
    tested.insert(finding.strongest->metric);
    if (finding.differs()) differing.insert(finding.strongest->metric);
  }
  return {tested.size(), differing.size()};
}

std::string format_plural(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", group_digits(n), n == 1 ? one : many);
}

std::string format_where(const AnalysisView& view, const Finding& finding) {
  const PairResult& result = *finding.strongest;
  std::string text = fmt::format("{}, {}", format_name(view.metrics[result.metric]), format_pair(view, result));
  if (!finding.differs()) {
    return text + (result.step < 0 ? ", all steps together" : fmt::format(", step {}", result.step));
  }
  text += ", " + format_steps(view, finding.steps);
  if (finding.steps.size() > 1 && result.step >= 0) text += fmt::format(", most at step {}", result.step);
  return text;
}

const SeparabilityAtStep* find_most_separable(const AnalysisView& view) {
  const SeparabilityAtStep* most = nullptr;
  for (const SeparabilityAtStep& at : view.separability) {
    if (at.ratio == at.ratio && (most == nullptr || at.ratio > most->ratio)) most = &at;
  }
  return most;
}

// Describes the step at which groups are farthest apart; its p is corrected for the choice of that step.
std::string format_separability(const AnalysisView& view, const SeparabilityAtStep& at) {
  const auto steps = static_cast<std::size_t>(std::count_if(view.separability.begin(), view.separability.end(),
                                                            [](const auto& one) { return one.p == one.p; }));
  const std::string p =
      steps == 1 ? report::format_p_with_bound(at.p, view.permutations)
                 : fmt::format("{} after correction for {} steps",
                               report::format_p_with_bound(at.p_corrected, view.permutations), group_digits(steps));
  const std::string numbers =
      fmt::format("distances between groups are {} times those within groups (silhouette {}, {})",
                  format_number(at.ratio), format_number(at.silhouette), p);
  if (at.p_corrected <= kAlpha)
    return fmt::format("All features together (separability): groups differ most at step {}: {}.", at.step, numbers);
  return fmt::format(
      "All features together (separability): no difference at step {}, where groups are farthest apart: {}.", at.step,
      numbers);
}

}  // namespace

std::vector<Finding> collect_findings(const AnalysisView& view) {
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Finding> found;
  for (const PairResult& result : view.results) {
    if (!is_in_family(result)) continue;
    Finding& finding = found[{result.metric, result.a, result.b}];
    if (finding.strongest == nullptr || is_stronger(result, *finding.strongest)) finding.strongest = &result;
    if (differs(result)) finding.steps.push_back(result.step);
  }
  std::vector<Finding> findings;
  for (auto& [key, finding] : found) {
    std::sort(finding.steps.begin(), finding.steps.end());
    findings.push_back(std::move(finding));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return is_stronger(*a.strongest, *b.strongest); });
  return findings;
}

std::string format_pair(const AnalysisView& view, const PairResult& result) {
  return fmt::format("{} against {}", format_name(view.groups[result.a]), format_name(view.groups[result.b]));
}

StepRuns find_step_runs(const AnalysisView& view, const std::vector<long long>& steps) {
  StepRuns out;
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i] < 0) {
      out.whole = true;
      ++i;
      continue;
    }
    // A run continues as long as the view has no step in between.
    auto at = std::find(view.steps.begin(), view.steps.end(), steps[i]);
    std::size_t end = i + 1;
    while (at != view.steps.end() && end < steps.size() && at + 1 != view.steps.end() && *(at + 1) == steps[end]) {
      ++at;
      ++end;
    }
    out.runs.push_back(end - i == 1 ? fmt::format("{}", steps[i])
                                    : fmt::format("{}\u2013{}", steps[i], steps[end - 1]));
    i = end;
  }
  return out;
}

std::string format_steps(const AnalysisView& view, const std::vector<long long>& steps) {
  const auto [runs, whole] = find_step_runs(view, steps);
  constexpr std::size_t kMaxRuns = 4;
  std::string text;
  if (!runs.empty()) {
    const bool one = runs.size() == 1 && runs[0].find("\u2013") == std::string::npos;
    text = one ? "step " : "steps ";
    const std::size_t shown = std::min(runs.size(), kMaxRuns);
    for (std::size_t i = 0; i < shown; ++i) {
      const bool last = i + 1 == shown && runs.size() <= kMaxRuns;
      text += (i == 0 ? "" : last ? " and " : ", ") + runs[i];
    }
    if (runs.size() > kMaxRuns) text += " and more";
  }
  if (whole) text += text.empty() ? "all steps together" : " and all steps together";
  return text;
}

std::string format_effect(const AnalysisView& view, const PairResult& result) {
  std::string text = fmt::format("{} against {}, difference {}", format_number(result.mean_a),
                                 format_number(result.mean_b), format_number(result.mean_a - result.mean_b));
  text += result.low == result.low && result.high == result.high
              ? fmt::format(" (95 % interval {} to {})", format_number(result.low), format_number(result.high))
              : std::string(" (no interval)");
  text += fmt::format(", Hedges' g {}", format_number(result.hedges_g));
  if (is_in_family(result))
    return text + ", family-wise " + report::format_p_with_bound(result.p_family, view.permutations);
  return text + ", uncorrected " + report::format_p_with_bound(result.p_permutation, view.permutations);
}

std::string explain_no_tests(const AnalysisView& view) {
  if (!view.no_tests_reason.empty()) return view.no_tests_reason;
  const auto has_p = [](const PairResult& one) { return is_in_family(one) || one.p_permutation == one.p_permutation; };
  if (std::any_of(view.results.begin(), view.results.end(), has_p)) return {};
  if (view.groups.size() < 2) return "there is only one group, and nothing to compare it with";
  if (std::all_of(view.videos.begin(), view.videos.end(), [](std::size_t n) { return n < 2; })) {
    return "every group has one video, so there is no spread between videos to compare a difference with";
  }
  return "no two groups have two videos each with values that vary";
}

std::vector<std::string> write_answer(const AnalysisView& view, const std::vector<Finding>& findings) {
  std::vector<std::string> answer;
  if (const std::string reason = explain_no_tests(view); !reason.empty()) {
    const SeparabilityAtStep* const at = find_most_separable(view);
    answer.push_back(
        "No metric was tested: " + reason +
        (at != nullptr ? "." : ". These videos cannot show whether groups differ; the page shows only their numbers."));
    if (at != nullptr) answer.push_back(format_separability(view, *at));
    return answer;
  }
  const MetricCounts metrics = count_metrics(findings);
  const std::string all = format_plural(count_comparisons(view), "comparison", "comparisons");
  if (findings.empty()) {
    answer.emplace_back("No comparison could be corrected for multiple testing, so no difference is reported.");
  } else if (metrics.differing == 0) {
    answer.push_back(
        fmt::format("No metric differs between any pair of groups after correction for all {}: the "
                    "smallest family-wise p is above {}.",
                    all, kAlpha));
    answer.push_back(fmt::format("The comparison with the smallest p is {}: {}.", format_where(view, findings[0]),
                                 format_effect(view, *findings[0].strongest)));
    answer.push_back(
        view.min_possible_p > kAlpha
            ? fmt::format("With {}, no difference can be detected, however large: no family-wise p can be below {}.",
                          format_videos(view), format_number(view.min_possible_p))
            : fmt::format("This is no evidence that the groups are equal: with {}, only differences that are large "
                          "compared with the spread of videos are detected.",
                          format_videos(view)));
  } else {
    answer.push_back(fmt::format(
        "{} of {} between at least one pair of groups at some step after correction for all "
        "{} (family-wise p \u2264 {}).",
        group_digits(metrics.differing),
        metrics.tested == 1 ? std::string("1 metric differs") : group_digits(metrics.tested) + " metrics differ", all,
        kAlpha));
    answer.push_back(fmt::format("The largest difference is {}: {}.", format_where(view, findings[0]),
                                 format_effect(view, *findings[0].strongest)));
  }
  if (const SeparabilityAtStep* at = find_most_separable(view)) {
    answer.push_back(format_separability(view, *at));
  }
  answer.push_back(fmt::format("The unit of analysis is the video ({}), not the latent, the frame or the pixel.",
                               format_videos(view)));
  return answer;
}

std::vector<report::PageFact> list_facts(const AnalysisView& view, const std::vector<Finding>& findings) {
  std::vector<report::PageFact> facts;
  if (!findings.empty()) {
    const MetricCounts metrics = count_metrics(findings);
    facts.push_back({fmt::format("{} of {}", metrics.differing, metrics.tested), "metrics differ"});
    const PairResult& first = *findings[0].strongest;
    facts.push_back({report::format_p_value(first.p_family, view.permutations),
                     findings[0].differs() ? "family-wise p of the largest" : "smallest family-wise p"});
    facts.push_back({format_number(first.hedges_g), "its Hedges' g"});
  }
  std::size_t videos = 0;
  for (const std::size_t n : view.videos) videos += n;
  facts.push_back({group_digits(view.groups.size()), view.groups.size() == 1 ? "group" : "groups"});
  facts.push_back({group_digits(videos), videos == 1 ? "video" : "videos"});
  facts.push_back({group_digits(view.steps.size()), view.steps.size() == 1 ? "step" : "steps"});
  return facts;
}

}  // namespace millrace::latents
