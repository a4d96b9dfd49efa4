#include "src/jobs/latents/analysis/analysis_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/base/sizes.h"
#include "src/jobs/latents/analysis/findings.h"

namespace millrace::latents {
namespace {

std::vector<std::vector<GroupCurve>> make_curves(const Analysis& analysis) {
  std::vector<std::vector<GroupCurve>> out(analysis.groups.size(), std::vector<GroupCurve>(analysis.metrics.size()));
  for (std::size_t g = 0; g < out.size(); ++g) {
    for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
      const ComparisonColumn& column = analysis.columns[c];
      const bool whole = analysis.metrics[column.metric].starts_with("trajectory.");
      // A metric's mean over steps is shown beside its curve, not in it.
      if (!column.step && !whole) continue;
      GroupCurve& curve = out[g][column.metric];
      const GroupMean& mean = analysis.mean(g, c);
      curve.mean.push_back(mean.moments.mean);
      const statistics::Interval interval = statistics::interval_of(mean.moments);
      curve.low.push_back(interval.low);
      curve.high.push_back(interval.high);
    }
  }
  return out;
}

std::vector<PairResult> make_results(const Analysis& analysis) {
  std::vector<PairResult> out;
  for (std::size_t p = 0; p < analysis.pairs.size(); ++p) {
    for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
      const PairTest& test = analysis.test(p, c);
      const auto& [a, b] = test.comparison.moments;
      PairResult own;
      own.a = analysis.pairs[p].first;
      own.b = analysis.pairs[p].second;
      own.metric = analysis.columns[c].metric;
      own.step = analysis.columns[c].step.value_or(-1);
      own.n_a = a.count;
      own.n_b = b.count;
      own.mean_a = a.mean;
      own.mean_b = b.mean;
      own.t = test.comparison.t;
      own.df = test.comparison.df;
      own.p_welch = test.comparison.p;
      own.p_holm = test.holm;
      own.p_bh = test.benjamini_hochberg;
      own.cohens_d = test.comparison.cohens_d;
      own.hedges_g = test.comparison.hedges_g;
      own.u = test.comparison.u;
      own.p_mann_whitney = test.comparison.u_p;
      own.p_permutation = test.permutation;
      own.p_family = test.familywise;
      own.low = test.comparison.difference.low;
      own.high = test.comparison.difference.high;
      out.push_back(own);
    }
  }
  return out;
}

// Lists what was left out, with the reason: unusable files, metrics that some latents lack, and notes.
std::vector<std::pair<std::string, std::string>> left_out(const LatentSet& set, const MetricTable& table,
                                                          const Analysis& analysis,
                                                          const SeparabilityResult& separability) {
  constexpr std::size_t kShown = 200;
  std::vector<std::pair<std::string, std::string>> out;
  for (const Error& error : set.unusable) {
    if (out.size() == kShown) {
      out.emplace_back(fmt::format("{} more files", group_digits(set.unusable.size() - kShown)),
                       "listed in the output of the command");
      break;
    }
    out.emplace_back(error.subject, error.what);
  }
  if (table.not_finite > 0)
    out.emplace_back(fmt::format("{} latents", group_digits(table.not_finite)),
                     "they contain NaN or infinity, or their sums exceed float32");
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    std::size_t absent = 0;
    for (std::size_t row = 0; row < set.files.size(); ++row) absent += table.at(row, m) != table.at(row, m) ? 1 : 0;
    absent -= std::min<std::size_t>(absent, table.not_finite);
    if (absent == 0) continue;
    out.emplace_back(
        std::string(table.metrics[m]),
        fmt::format("not defined for {} of {} latents, because of their shape or because they are constant",
                    group_digits(absent), group_digits(set.files.size())));
  }
  for (const std::string& warning : set.warnings) out.emplace_back("note", warning);
  if (const std::string few = describe_too_few_videos(analysis); !few.empty()) out.emplace_back("note", few);
  for (const std::string& note : analysis.notes) out.emplace_back("note", note);
  for (const std::string& note : separability.notes) out.emplace_back("note", note);
  return out;
}

}  // namespace

AnalysisView make_analysis_view(const LatentsJobOptions& options, const LatentSet& set, const MetricTable& table,
                                const Analysis& analysis, const Profiles& profiles,
                                const SeparabilityResult& separability) {
  AnalysisView out;
  out.groups = analysis.groups;
  out.videos = analysis.compared;
  out.min_possible_p = analysis.min_possible_p;
  out.steps = analysis.steps;
  for (const std::string_view metric : analysis.metrics) out.metrics.emplace_back(metric);
  out.curves = make_curves(analysis);
  out.results = make_results(analysis);
  out.permutations = kPermutations;
  out.bootstraps = kReplicates;
  out.seed = static_cast<std::uint64_t>(options.seed);
  out.no_tests_reason = analysis.no_tests;
  out.channels = set.files.front().shape.channels;
  out.spectrum_steps = profiles.spectrum_steps;
  out.spectra.resize(profiles.spectrum_steps.size());
  for (const GroupProfile& profile : profiles.groups) {
    out.channel_correlation.push_back(profile.channel_correlation);
    out.channel_variance.push_back(profile.channel_variance);
    for (std::size_t k = 0; k < profile.spectra.size(); ++k) out.spectra[k].push_back(profile.spectra[k]);
  }
  const std::vector<std::uint32_t> group_of = set.group_numbers();
  for (const StepSeparability& step : separability.steps) {
    const statistics::FeatureSpace& space = step.found.standardized;
    SeparabilityAtStep own;
    own.step = step.step;
    own.ratio = space.ratio;
    own.ratio_published = step.found.published.ratio;
    own.silhouette = space.silhouette;
    own.p = space.p;
    own.p_corrected = step.corrected_p;
    own.points = space.coordinates;
    for (std::size_t i = 0; i < own.points.size(); ++i) own.group_of_point.push_back(group_of[step.videos[i]]);
    for (std::size_t k = 0; k < 2 && k < space.explained.size(); ++k) own.explained[k] = space.explained[k];
    out.separability.push_back(std::move(own));
  }
  for (const std::string& note : separability.notes)
    out.separability_note += (out.separability_note.empty() ? "" : "; ") + note;
  out.left_out = left_out(set, table, analysis, separability);
  return out;
}

}  // namespace millrace::latents
