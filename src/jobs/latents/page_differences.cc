#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "src/base/sizes.h"
#include "src/jobs/latents/page_metrics.h"
#include "src/jobs/latents/page_sections.h"
#include "src/kernels/elementary.h"
#include "src/report/number_format.h"
#include "src/report/plot/forest_plot.h"
#include "src/report/plot/heat_map.h"

namespace millrace::latents {
namespace {

using report::format_number;

constexpr std::size_t kMaxRows = 200, kMaxEffects = 24, kMaxPairMaps = 15, kMaxPairColumns = 45, kMaxColumns = 60;

// Returns the steps at which a pair differs, as "3–5, 9, all".
std::string format_differing_steps(const AnalysisView& view, const Finding& finding) {
  auto [runs, whole] = find_step_runs(view, finding.steps);
  if (whole) runs.emplace_back("all");
  return runs.empty() ? "none" : fmt::format("{}", fmt::join(runs, ", "));
}

// Returns an effect with the interval of the difference in units of g, which is the same difference over a deviation.
report::ForestPlotRow make_effect(const AnalysisView& view, const Finding& finding) {
  const PairResult& result = *finding.strongest;
  const double difference = result.mean_a - result.mean_b;
  const double scale = difference != 0 ? result.hedges_g / difference : kNoValue;
  const double one = result.low * scale, other = result.high * scale;
  const std::string where = result.step < 0 ? std::string("all steps together") : fmt::format("step {}", result.step);
  return {view.metrics[result.metric],
          format_pair(view, result) + ", " + where,
          result.hedges_g,
          std::fmin(one, other),
          std::fmax(one, other),
          finding.differs(),
          report::format_p_equation(report::format_p_value(result.p_family, view.permutations))};
}

// Columns of a matrix, one per step. With very many steps several share a column, which shows the strongest of their
// results.
struct StepColumns {
  std::vector<std::string> labels;
  std::map<long long, std::size_t> column_of;

  StepColumns(const AnalysisView& view, bool whole) {
    const std::size_t each = (view.steps.size() + kMaxColumns - 1) / kMaxColumns;
    for (std::size_t i = 0; i < view.steps.size(); ++i) {
      if (i % each == 0) {
        const std::size_t last = std::min(i + each, view.steps.size()) - 1;
        labels.push_back(each == 1 ? fmt::format("{}", view.steps[i])
                                   : fmt::format("{}\u2013{}", view.steps[i], view.steps[last]));
      }
      column_of[view.steps[i]] = labels.size() - 1;
    }
    if (whole) {
      column_of[-1] = labels.size();
      labels.emplace_back("all");
    }
  }
};

// Returns metrics with a comparison in the family, in the view's order.
std::vector<std::size_t> find_tested_metrics(const AnalysisView& view) {
  std::vector<bool> tested(view.metrics.size());
  for (const PairResult& result : view.results) {
    if (is_in_family(result)) tested[result.metric] = true;
  }
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < tested.size(); ++m) {
    if (tested[m]) metrics.push_back(m);
  }
  return metrics;
}

// Returns p for a cell, with enough digits that a value above kAlpha does not look as if it were not.
std::string format_p_cell(double p) {
  if (p != p) return "\u2013";
  if (p < 0.00005) return "<.0001";
  int digits = 2;
  if (p > kAlpha && p < kAlpha * 1.1) digits = 3;
  return p == 1 ? "1" : format_number(p, digits);
}

// Returns a matrix of metrics and steps without values, to be filled with the strongest results.
report::HeatMap make_matrix(const AnalysisView& view, const std::vector<std::size_t>& metrics,
                            const StepColumns& steps) {
  report::HeatMap map;
  map.row_title = "metric";
  map.column_title = "step";
  for (const std::size_t m : metrics) map.rows.push_back(view.metrics[m]);
  map.columns = steps.labels;
  map.values.assign(map.rows.size() * map.columns.size(), kNoValue);
  map.marks.assign(map.values.size(), false);
  map.mark_meaning = fmt::format("family-wise p \u2264 {}", kAlpha);
  return map;
}

// Returns for each cell the result with the smallest p that `takes` accepts; nullptr where there is none.
template <typename Takes>
std::vector<const PairResult*> find_smallest_p(const AnalysisView& view, const std::vector<std::size_t>& metrics,
                                               const StepColumns& steps, Takes&& takes) {
  std::vector<std::size_t> row_of(view.metrics.size(), metrics.size());
  for (std::size_t r = 0; r < metrics.size(); ++r) row_of[metrics[r]] = r;
  std::vector<const PairResult*> cells(metrics.size() * steps.labels.size(), nullptr);
  for (const PairResult& result : view.results) {
    const auto column = steps.column_of.find(result.step);
    if (!is_in_family(result) || column == steps.column_of.end() || !takes(result)) continue;
    const PairResult*& cell = cells[row_of[result.metric] * steps.labels.size() + column->second];
    if (cell == nullptr || result.p_family < cell->p_family) cell = &result;
  }
  return cells;
}

report::HeatMap make_p_matrix(const AnalysisView& view, const std::vector<std::size_t>& metrics,
                              const StepColumns& steps) {
  report::HeatMap map = make_matrix(view, metrics, steps);
  const auto cells = find_smallest_p(view, metrics, steps, [](const PairResult&) { return true; });
  map.title = "Smallest family-wise p over all pairs, by metric and step";
  map.caption =
      "Darker cells are less likely by chance alone. A p-value does not show how large a difference is; the figures "
      "below show effects.";
  map.value_title = "family-wise p";
  constexpr double kLog10 = 2.302585092994046;
  map.low = 0;
  map.high = std::max(2.0, logarithm(static_cast<double>(view.permutations) + 1) / kLog10);
  for (const double p : {1.0, 0.05, 0.01, 0.001, 0.0001})
    map.bar.emplace_back(-logarithm(p) / kLog10, report::format_p_value(p, 0));
  map.texts.assign(cells.size(), "\u2013");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == nullptr) continue;
    map.values[i] = -logarithm(std::max(cells[i]->p_family, 1e-300)) / kLog10;
    map.texts[i] = format_p_cell(cells[i]->p_family);
    map.marks[i] = differs(*cells[i]);
  }
  return map;
}

using GroupIndexPair = std::pair<std::size_t, std::size_t>;

// Returns the pairs of groups, those with most differences first.
std::vector<GroupIndexPair> order_pairs(const std::vector<Finding>& findings) {
  std::map<GroupIndexPair, std::size_t> counts;
  for (const Finding& finding : findings) counts[{finding.strongest->a, finding.strongest->b}] += finding.steps.size();
  std::vector<GroupIndexPair> pairs;
  for (const auto& [pair, count] : counts) pairs.push_back(pair);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const GroupIndexPair& a, const GroupIndexPair& b) { return counts[a] > counts[b]; });
  return pairs;
}

// The largest |g|, so that all maps of a page have the same shades.
double find_largest_effect(const AnalysisView& view) {
  double largest = 0;
  for (const PairResult& result : view.results) {
    if (is_in_family(result) && std::isfinite(result.hedges_g)) largest = std::max(largest, std::fabs(result.hedges_g));
  }
  return largest > 0 ? largest : 1;
}

report::HeatMap make_pair_matrix(const AnalysisView& view, const std::vector<std::size_t>& metrics,
                                 const std::vector<Finding>& findings, const std::vector<GroupIndexPair>& pairs,
                                 double largest) {
  report::HeatMap map;
  map.title = "Effects by metric and pair of groups";
  map.caption =
      "Hedges' g at the step where the pair differs most, or else where its p is smallest. Orange: the first group of "
      "the pair has the larger value.";
  map.row_title = "metric";
  map.value_title = "Hedges' g";
  map.shades = report::Shades::diverging;
  map.low = -largest;
  map.high = largest;
  map.mark_meaning = fmt::format("family-wise p \u2264 {}", kAlpha);
  for (const std::size_t m : metrics) map.rows.push_back(view.metrics[m]);
  for (const GroupIndexPair& pair : pairs)
    map.columns.push_back(view.groups[pair.first] + " \u2212 " + view.groups[pair.second]);
  map.values.assign(map.rows.size() * map.columns.size(), kNoValue);
  map.marks.assign(map.values.size(), false);
  for (const Finding& finding : findings) {
    const PairResult& result = *finding.strongest;
    const auto column = std::find(pairs.begin(), pairs.end(), GroupIndexPair{result.a, result.b});
    if (column == pairs.end()) continue;
    const auto row = std::lower_bound(metrics.begin(), metrics.end(), result.metric);
    const auto i = static_cast<std::size_t>(row - metrics.begin()) * pairs.size() +
                   static_cast<std::size_t>(column - pairs.begin());
    map.values[i] = result.hedges_g;
    map.marks[i] = finding.differs();
  }
  return map;
}

}  // namespace

std::vector<report::TableColumn> comparison_columns(bool family) {
  std::vector<report::TableColumn> columns = {{"metric"},          {"pair"},
                                              {"step", true},      {family ? "family-wise p" : "uncorrected p", true},
                                              {"Hedges' g", true}, {"difference [95 % interval]", true},
                                              {"means", true},     {"videos", true}};
  if (family) {
    columns.insert(columns.begin() + 2, {"differs at steps"});
  } else {
    columns.push_back({"Holm p (Welch)", true});
  }
  return columns;
}

std::vector<std::string> comparison_cells(const AnalysisView& view, const PairResult& result, const Finding* finding) {
  const bool family = finding != nullptr;
  std::vector<std::string> cells = {
      view.metrics[result.metric],
      format_pair(view, result),
      result.step < 0 ? std::string("all") : std::to_string(result.step),
      report::format_p_value(family ? result.p_family : result.p_permutation, view.permutations),
      format_number(result.hedges_g),
      format_number(result.mean_a - result.mean_b) + " " + report::format_interval(result.low, result.high),
      format_number(result.mean_a) + " and " + format_number(result.mean_b),
      fmt::format("{} + {}", result.n_a, result.n_b)};
  if (family) {
    cells.insert(cells.begin() + 2, format_differing_steps(view, *finding));
  } else {
    cells.push_back(report::format_p_value(result.p_holm, 0));
  }
  return cells;
}

void add_differences(report::PageWriter& page, const AnalysisView& view, const std::vector<Finding>& findings) {
  if (findings.empty()) return;
  const auto differing = static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [](const Finding& one) { return one.differs(); }));
  page.section("What differs");
  if (differing == 0) {
    page.paragraph(
        "No comparison differs after correction. These have the smallest p; their intervals are for each comparison "
        "alone.");
  } else {
    page.paragraph(
        fmt::format("{} of {} combinations of a metric and a pair of groups differ at one or more steps; the largest "
                    "effects come first. Intervals are for each comparison alone and are not corrected.",
                    group_digits(differing), group_digits(findings.size())));
  }
  report::ForestPlot plot;
  const std::size_t shown = std::min(differing > 0 ? differing : 12, std::min(findings.size(), kMaxEffects));
  plot.title = differing == 0 ? "The comparisons with the smallest p" : "The largest effects";
  plot.caption =
      "Hedges' g: the difference of the groups' means (first minus second) in pooled standard deviations of videos. "
      "Lines are the 95 % interval of the difference in that unit.";
  plot.value_title = "Hedges' g";
  plot.mark_meaning = fmt::format("family-wise p \u2264 {}", kAlpha);
  for (std::size_t i = 0; i < shown; ++i) plot.rows.push_back(make_effect(view, findings[i]));
  page.figure(draw(plot));

  report::Table table;
  table.columns = comparison_columns(true);
  const std::size_t rows = std::min(differing > 0 ? differing : 12, std::min(findings.size(), kMaxRows));
  for (std::size_t i = 0; i < rows; ++i) {
    const Finding& finding = findings[i];
    table.rows.push_back(comparison_cells(view, *finding.strongest, &finding));
  }
  table.note =
      "All numbers, including p, are for the step in the column \u201Cstep\u201D (all: the whole video), where the "
      "pair "
      "differs most, or else where its p is smallest.";
  if (differing > rows)
    table.note += fmt::format(" Only the first {} of {} are shown.", group_digits(rows), group_digits(differing));
  page.table(table);
}

void add_matrices(report::PageWriter& page, const AnalysisView& view, const std::vector<Finding>& findings) {
  if (findings.empty()) return;
  page.section("By metric and step");
  const std::vector<std::size_t> metrics = find_tested_metrics(view);
  const auto whole = [](const PairResult& one) { return is_in_family(one) && one.step < 0; };
  const StepColumns steps(view, std::any_of(view.results.begin(), view.results.end(), whole));
  page.figure(draw(make_p_matrix(view, metrics, steps)));

  const double largest = find_largest_effect(view);
  std::vector<GroupIndexPair> pairs = order_pairs(findings);
  const std::size_t all_pairs = pairs.size();
  if (pairs.size() > kMaxPairColumns) pairs.resize(kMaxPairColumns);
  report::HeatMap effects = make_pair_matrix(view, metrics, findings, pairs, largest);
  if (pairs.size() < all_pairs) {
    effects.caption += fmt::format(" Only the {} of {} pairs with the most differences are shown.", pairs.size(),
                                   group_digits(all_pairs));
  }
  page.figure(draw(effects));

  if (pairs.size() > kMaxPairMaps) pairs.resize(kMaxPairMaps);
  page.open_more(pairs.size() < all_pairs
                     ? fmt::format("By step, for the {} pairs with the most differences", pairs.size())
                     : std::string("By step, for each pair"));
  page.note("Hedges' g, in the colors of the figure above. Orange: the first group has the larger value. " +
            fmt::format("Dots: family-wise p \u2264 {}.", kAlpha));
  page.open_grid();
  for (const GroupIndexPair& pair : pairs) {
    report::HeatMap map = make_matrix(view, metrics, steps);
    map.title = view.groups[pair.first] + " against " + view.groups[pair.second];
    map.value_title = "Hedges' g";
    map.shades = report::Shades::diverging;
    map.low = -largest;
    map.high = largest;
    map.width = 460;
    map.hover = false;
    const auto cells = find_smallest_p(view, metrics, steps, [&](const PairResult& one) {
      return GroupIndexPair{one.a, one.b} == pair;
    });
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] == nullptr) continue;
      map.values[i] = cells[i]->hedges_g;
      map.marks[i] = differs(*cells[i]);
    }
    page.figure(draw(map));
  }
  page.close_grid();
  page.close_more();
}

}  // namespace millrace::latents
