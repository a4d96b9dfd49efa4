#include "src/jobs/latents/analysis/summary_json.h"

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::latents {
namespace {

// Returns null for NaN and infinity, which JSON does not have.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(number(value));
  return out;
}

// Quantile of sorted values, as numpy.quantile computes it.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

Json describe_spread(std::vector<double> values) {
  std::erase_if(values, [](double value) { return value != value; });
  if (values.empty()) return {{"n", 0}};
  std::sort(values.begin(), values.end());
  const statistics::Moments moments = statistics::moments_of(values);
  return {{"n", values.size()},
          {"mean", number(moments.mean)},
          {"std", number(moments.deviation)},
          {"min", values.front()},
          {"q25", quantile(values, 0.25)},
          {"median", quantile(values, 0.5)},
          {"q75", quantile(values, 0.75)},
          {"max", values.back()}};
}

// Returns the place of a metric: "spatial.variance" is "variance" in the object "spatial".
Json& find_metric_entry(Json& object, std::string_view metric) {
  const std::size_t dot = metric.find('.');
  return object[std::string(metric.substr(0, dot))][std::string(metric.substr(dot + 1))];
}

Json json_of(const PairTest& test) {
  const auto& [a, b] = test.comparison.moments;
  Json out = {
      {"n", {a.count, b.count}},
      {"mean", {number(a.mean), number(b.mean)}},
      {"std", {number(a.deviation), number(b.deviation)}},
      {"difference", number(a.mean - b.mean)},
      {"confidence_interval", {number(test.comparison.difference.low), number(test.comparison.difference.high)}},
      {"bootstrap_interval", {number(test.bootstrap.low), number(test.bootstrap.high)}}};
  if (test.comparison.reason != statistics::UntestedReason::none) {
    out["no_p"] = to_text(test.comparison.reason);
    return out;
  }
  out["t_statistic"] = number(test.comparison.t);
  out["degrees_of_freedom"] = number(test.comparison.df);
  out["p_value"] = number(test.comparison.p);
  out["cohens_d"] = number(test.comparison.cohens_d);
  out["hedges_g"] = number(test.comparison.hedges_g);
  out["mann_whitney_u"] = number(test.comparison.u);
  out["p_mann_whitney"] = number(test.comparison.u_p);
  out["p_permutation"] = number(test.permutation);
  out["p_familywise"] = number(test.familywise);
  out["p_holm"] = number(test.holm);
  out["p_benjamini_hochberg"] = number(test.benjamini_hochberg);
  return out;
}

Json groups_json(const LatentSet& set, const MetricTable& table, const Analysis& analysis, const Profiles& profiles) {
  Json out = Json::object();
  std::size_t row = 0, video = 0;
  for (std::size_t g = 0; g < analysis.groups.size(); ++g) {
    const std::size_t first_video = video, begin = row;
    video += analysis.videos[g];
    while (row < set.files.size() && set.files[row].video < video) ++row;
    Json own = {{"videos", analysis.videos[g]}, {"videos_compared", analysis.compared[g]}, {"latents", row - begin}};
    Json& metrics = own["metrics"] = Json::object();
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      std::vector<double> values;
      for (std::size_t i = begin; i < row; ++i) values.push_back(table.at(i, m));
      Json& spread = find_metric_entry(metrics, table.metrics[m]) = describe_spread(std::move(values));
      if (table.metrics[m] == "frequency.spatial_peak" && spread.contains("std") && spread["std"].is_number() &&
          spread["mean"].is_number())
        spread["consistency"] = 1 - spread["std"].get<double>() / spread["mean"].get<double>();
    }
    for (std::size_t k = 0; k < kTrajectoryNames.size() && !table.trajectories.empty(); ++k) {
      std::vector<double> values;
      for (std::size_t v = first_video; v < video && v < table.trajectories.size(); ++v)
        if (table.trajectories[v]) values.push_back(values_of(*table.trajectories[v])[k]);
      find_metric_entry(metrics, kTrajectoryNames[k]) = describe_spread(std::move(values));
    }
    const GroupProfile& profile = profiles.groups[g];
    if (!profile.channel_variance.empty()) {
      metrics["channel"]["variance_by_channel"] = {{"mean", numbers(profile.channel_variance)},
                                                   {"std", numbers(profile.channel_variance_deviation)}};
    }
    if (!profile.spectrum.empty()) {
      metrics["frequency"]["spatial_spectrum"] = {{"mean", numbers(profile.spectrum)},
                                                  {"variance", numbers(profile.spectrum_variance)}};
    }
    out[analysis.groups[g]] = std::move(own);
  }
  return out;
}

Json comparisons_json(const Analysis& analysis) {
  // Many groups have more comparisons than a reader needs: only those that differ are written. comparisons.csv has all.
  constexpr std::size_t kMaxFullComparisons = 2000;
  const bool in_full = analysis.pairs.size() * analysis.metrics.size() <= kMaxFullComparisons;
  Json out = Json::array();
  for (std::size_t p = 0; p < analysis.pairs.size(); ++p) {
    std::size_t left_out = 0;
    Json pair = {{"groups", {analysis.groups[analysis.pairs[p].first], analysis.groups[analysis.pairs[p].second]}},
                 {"metrics", Json::object()}};
    for (std::size_t m = 0; m < analysis.metrics.size(); ++m) {
      Json own = Json::object();
      bool differs = false;
      const PairTest* least = nullptr;
      long long least_step = 0;
      Json steps = Json::array();
      for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
        const ComparisonColumn& column = analysis.columns[c];
        if (column.metric != m) continue;
        const PairTest& test = analysis.test(p, c);
        if (!column.step) {
          own["over_steps"] = json_of(test);
          differs = differs || test.familywise <= kAlpha;
          continue;
        }
        if (test.familywise <= kAlpha) steps.push_back(*column.step);
        const bool smaller = least == nullptr || test.familywise < least->familywise ||
                             (test.familywise == least->familywise && test.comparison.p < least->comparison.p) ||
                             (least->familywise != least->familywise && test.familywise == test.familywise);
        if (!smaller) continue;
        least = &test;
        least_step = *column.step;
      }
      if (least != nullptr) {
        const auto& [a, b] = least->comparison.moments;
        own["at_step"] = {{"step", least_step},
                          {"difference", number(a.mean - b.mean)},
                          {"hedges_g", number(least->comparison.hedges_g)},
                          {"p_familywise", number(least->familywise)}};
        own["steps_below_0.05"] = steps;
      }
      if (!in_full && !differs && steps.empty()) {
        ++left_out;
        continue;
      }
      pair["metrics"][std::string(analysis.metrics[m])] = std::move(own);
    }
    if (left_out > 0) pair["metrics_that_do_not_differ"] = left_out;
    out.push_back(std::move(pair));
  }
  return out;
}

Json significance_json(const Analysis& analysis) {
  const auto count = [&](std::size_t begin, std::size_t end) {
    std::size_t tests = 0, raw = 0, familywise = 0, holm = 0, benjamini = 0;
    for (std::size_t p = 0; p < analysis.pairs.size(); ++p) {
      for (std::size_t c = begin; c < end; ++c) {
        const PairTest& test = analysis.test(p, c);
        if (test.familywise != test.familywise) continue;
        ++tests;
        raw += test.comparison.p <= kAlpha ? 1 : 0;
        familywise += test.familywise <= kAlpha ? 1 : 0;
        holm += test.holm <= kAlpha ? 1 : 0;
        benjamini += test.benjamini_hochberg <= kAlpha ? 1 : 0;
      }
    }
    return Json{
        {"tests", tests},
        {"below_0.05",
         {{"uncorrected", raw}, {"familywise", familywise}, {"holm", holm}, {"benjamini_hochberg", benjamini}}}};
  };
  Json out = {{"by_step", count(0, analysis.over_steps)},
              {"over_steps", count(analysis.over_steps, analysis.columns.size())}};
  if (!analysis.no_tests.empty()) out["no_tests"] = analysis.no_tests;
  out["least_possible_p"] = analysis.min_possible_p;
  out["comparisons_not_in_family"] = analysis.not_in_family;
  return out;
}

Json separability_json(const SeparabilityResult& separability) {
  Json out = {{"features", separability.features}, {"steps", Json::array()}};
  for (const StepSeparability& step : separability.steps) {
    const statistics::FeatureSpace& space = step.found.standardized;
    Json own = {{"step", step.step}, {"videos", step.videos.size()}};
    if (space.reason != statistics::UntestedReason::none) {
      own["absent"] = to_text(space.reason);
    } else {
      own["score"] = number(space.ratio);
      own["score_published"] = number(step.found.published.ratio);
      own["silhouette"] = number(space.silhouette);
      own["p_value"] = number(space.p);
      own["p_value_corrected"] = number(step.corrected_p);
    }
    out["steps"].push_back(std::move(own));
  }
  out["notes"] = separability.notes;
  return out;
}

}  // namespace

OutputKind summary_kind() {
  return {"a summary of latents", ReadAccess::everyone, make_json_recognizer("latents-summary", {"analysis_summary"})};
}

Json summary_json(const LatentsJobOptions& options, const LatentSet& set, const MetricTable& table,
                  const Analysis& analysis, const Profiles& profiles, const SeparabilityResult& separability) {
  const LatentFile& first = set.files.front();
  const LatentShape most = set.max_shape();
  Json shape = {most.channels, most.frames, most.height, most.width};
  Json out = {{kJsonMark, "latents-summary"},
              {"analysis_summary",
               {{"latents", set.files.size()},
                {"videos", set.videos.size()},
                {"groups", analysis.groups},
                {"steps", analysis.steps},
                {"steps_of_means", analysis.usual_steps},
                {"shape", shape},
                {"dtype", name_of(first.tensor.type)},
                {"normalize", choice_name(options.normalize)},
                {"metrics", analysis.metrics},
                {"not_finite", table.not_finite},
                {"seed", options.seed},
                {"permutations", kPermutations},
                {"bootstraps", kReplicates},
                {"unusable", unusable_files_to_json(set.unusable)},
                {"without_metadata", set.count_without_metadata()},
                {"warnings", set.warnings},
                {"notes", analysis.notes}}},
              {"significance", significance_json(analysis)},
              {"groups", groups_json(set, table, analysis, profiles)},
              {"group_comparisons", comparisons_json(analysis)}};
  if (options.chosen.separability) out["separability"] = separability_json(separability);
  return out;
}

}  // namespace millrace::latents
