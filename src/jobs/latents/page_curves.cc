#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/sizes.h"
#include "src/jobs/latents/page_metrics.h"
#include "src/jobs/latents/page_sections.h"
#include "src/report/number_format.h"
#include "src/report/plot/forest_plot.h"
#include "src/report/plot/heat_map.h"
#include "src/report/plot/line_plot.h"
#include "src/report/plot/scatter_plot.h"

namespace millrace::latents {
namespace {

using report::format_number;

constexpr const char* kInterval = "95 % interval";

const GroupCurve* find_curve(const AnalysisView& view, std::size_t group, std::size_t metric) {
  if (group >= view.curves.size() || metric >= view.curves[group].size()) return nullptr;
  return &view.curves[group][metric];
}

bool has_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

bool has_curve(const AnalysisView& view, std::size_t metric) {
  for (std::size_t g = 0; g < view.groups.size(); ++g) {
    const GroupCurve* curve = find_curve(view, g, metric);
    if (curve != nullptr && has_finite(curve->mean)) return true;
  }
  return false;
}

bool has_intervals(const AnalysisView& view) {
  for (const auto& group : view.curves) {
    if (std::any_of(group.begin(), group.end(), [](const GroupCurve& curve) { return has_finite(curve.low); }))
      return true;
  }
  return false;
}

std::vector<double> to_doubles(const std::vector<long long>& steps) { return {steps.begin(), steps.end()}; }

report::LinePanel make_panel(const AnalysisView& view, std::size_t metric) {
  report::LinePanel panel{view.metrics[metric], {}, {}};
  for (std::size_t g = 0; g < view.groups.size(); ++g) {
    const GroupCurve* curve = find_curve(view, g, metric);
    panel.lines.push_back(curve == nullptr ? report::LineSeries()
                                           : report::LineSeries{curve->mean, curve->low, curve->high});
  }
  return panel;
}

void add_family(report::PageWriter& page, const AnalysisView& view, std::string_view name, std::string_view title) {
  report::LinePlot plot;
  plot.title = title;
  plot.x_title = "step";
  plot.x = to_doubles(view.steps);
  plot.names = view.groups;
  plot.interval = kInterval;
  for (std::size_t m = 0; m < view.metrics.size(); ++m) {
    if (family_of(view.metrics[m]) != name || !has_curve(view, m)) continue;
    plot.panels.push_back(make_panel(view, m));
    const std::string_view meaning = meaning_of(view.metrics[m]);
    if (meaning.empty()) continue;
    const std::string_view member = std::string_view(view.metrics[m]).substr(name.size() + 1);
    plot.caption += fmt::format("{}{}: {}", plot.caption.empty() ? "" : "; ", member, meaning);
  }
  if (plot.panels.empty()) return;
  if (!plot.caption.empty()) plot.caption += ".";
  plot.description =
      fmt::format("Means of groups of videos by step, with {}s: {} metrics.", kInterval, plot.panels.size());
  page.figure(draw(plot));
}

// Returns a group's mean of a metric of whole videos: from the curve, else from a comparison that has it.
GroupCurve find_whole_video_mean(const AnalysisView& view, std::size_t group, std::size_t metric) {
  const GroupCurve* curve = find_curve(view, group, metric);
  if (curve != nullptr && curve->mean.size() == 1) return *curve;
  for (const PairResult& result : view.results) {
    if (result.metric != metric || result.step >= 0) continue;
    if (result.a == group) return {{result.mean_a}, {}, {}};
    if (result.b == group) return {{result.mean_b}, {}, {}};
  }
  return {{kNoValue}, {}, {}};
}

report::ForestPlot make_mean_plot(const AnalysisView& view, std::size_t metric) {
  report::ForestPlot plot;
  plot.title = view.metrics[metric];
  const std::string_view meaning = meaning_of(view.metrics[metric]);
  if (!meaning.empty()) plot.caption = fmt::format("{}. Mean over a group's videos, with {}.", meaning, kInterval);
  if (!plot.caption.empty() && plot.caption[0] >= 'a' && plot.caption[0] <= 'z') {
    plot.caption[0] = static_cast<char>(plot.caption[0] - 'a' + 'A');
  }
  plot.value_title = view.metrics[metric];
  plot.line_at = kNoValue;
  plot.width = 460;
  for (std::size_t g = 0; g < view.groups.size(); ++g) {
    const GroupCurve whole = find_whole_video_mean(view, g, metric);
    const double low = whole.low.empty() ? kNoValue : whole.low[0],
                 high = whole.high.empty() ? kNoValue : whole.high[0];
    plot.rows.push_back({view.groups[g], {}, whole.mean[0], low, high, true, format_number(whole.mean[0]), g});
  }
  return plot;
}

std::vector<std::string> make_number_labels(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

report::HeatMap make_correlation_map(const AnalysisView& view, std::size_t group) {
  report::HeatMap map;
  map.title = "Correlation of channels, " + view.groups[group];
  map.row_title = map.column_title = "channel";
  map.value_title = "r, mean over latents";
  map.shades = report::Shades::diverging;
  map.low = -1;
  map.high = 1;
  map.square = map.triangle = true;
  map.width = 460;
  map.rows = map.columns = make_number_labels(view.channels);
  const auto count = static_cast<std::size_t>(view.channels);
  map.values.assign(count * count, kNoValue);
  const std::vector<double>& pairs = view.channel_correlation[group];
  std::size_t i = 0;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count && i < pairs.size(); ++b, ++i) {
      map.values[a * count + b] = map.values[b * count + a] = pairs[i];
    }
    map.values[a * count + a] = 1;
  }
  return map;
}

}  // namespace

void add_curves(report::PageWriter& page, const AnalysisView& view) {
  if (view.steps.empty() || view.groups.empty()) return;
  page.section("Metrics by step");
  if (has_intervals(view)) {
    page.paragraph(fmt::format(
        "Each line is the mean of a group's videos at each step; the band is its {} by Student's t. Groups can differ "
        "although their bands overlap, and bands can be separate although the groups do not differ.",
        kInterval));
  } else {
    page.paragraph(
        "Each line is the mean of a group's videos at each step. There are no intervals: an interval needs two videos "
        "per group.");
  }
  for (const MetricFamily& family : metric_families()) add_family(page, view, family.name, family.title);
  // Metrics of families that the page does not know come last.
  std::vector<std::string_view> others;
  for (const std::string& metric : view.metrics) {
    const std::string_view name = family_of(metric);
    const auto& known = metric_families();
    const bool listed =
        std::any_of(known.begin(), known.end(), [&](const MetricFamily& one) { return one.name == name; });
    if (listed || name == "trajectory" || std::find(others.begin(), others.end(), name) != others.end()) continue;
    others.push_back(name);
    add_family(page, view, name, name);
  }
}

void add_channels(report::PageWriter& page, const AnalysisView& view) {
  if (view.channels < 1 || (view.channel_variance.empty() && view.channel_correlation.empty())) return;
  page.section("Channels");
  const auto count = static_cast<std::size_t>(view.channels);
  if (!view.channel_variance.empty()) {
    report::HeatMap map;
    map.title = "Variance of each channel, by group";
    map.caption = "Variance over all frames and pixels of a channel, averaged over a group's latents.";
    map.row_title = "group";
    map.column_title = "channel";
    map.value_title = "variance";
    map.low = 0;
    map.columns = make_number_labels(view.channels);
    const std::size_t groups = std::min(view.groups.size(), view.channel_variance.size());
    map.rows.assign(view.groups.begin(), view.groups.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t c = 0; c < count; ++c) {
        const std::vector<double>& of = view.channel_variance[g];
        map.values.push_back(c < of.size() ? of[c] : kNoValue);
      }
    }
    page.figure(draw(map));
  }
  if (view.channel_correlation.empty() || view.channels < 2) return;
  page.paragraph("Correlation of every two channels, for each group: orange is positive, blue is negative.");
  page.open_grid();
  for (std::size_t g = 0; g < std::min(view.groups.size(), view.channel_correlation.size()); ++g) {
    page.figure(draw(make_correlation_map(view, g)));
  }
  page.close_grid();
}

void add_spectra(report::PageWriter& page, const AnalysisView& view) {
  if (view.spectra.empty()) return;
  page.section("Spectra");
  report::LinePlot plot;
  plot.title = "Mean radial spectra";
  plot.caption =
      "Power of the frames' Fourier transform by spatial frequency, averaged over a group's latents. A straight line "
      "is a power law; a flat line is white noise.";
  plot.x_title = "spatial frequency, periods per side";
  plot.x_scale = plot.y_scale = report::AxisScale::log10;
  plot.names = view.groups;
  std::size_t radii = 0;
  for (std::size_t s = 0; s < std::min(view.spectra.size(), view.spectrum_steps.size()); ++s) {
    report::LinePanel panel{fmt::format("step {}", view.spectrum_steps[s]), "power", {}};
    for (const std::vector<double>& spectrum : view.spectra[s]) {
      panel.lines.push_back({spectrum, {}, {}});
      radii = std::max(radii, spectrum.size());
    }
    plot.panels.push_back(std::move(panel));
  }
  for (std::size_t k = 1; k <= radii; ++k) plot.x.push_back(static_cast<double>(k));
  page.figure(draw(plot));
}

void add_whole_videos(report::PageWriter& page, const AnalysisView& view) {
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < view.metrics.size(); ++m) {
    if (family_of(view.metrics[m]) == "trajectory") metrics.push_back(m);
  }
  std::vector<const PairResult*> whole;
  for (const PairResult& result : view.results) {
    if (result.step < 0 && !is_in_family(result) && result.mean_a == result.mean_a) whole.push_back(&result);
  }
  if (metrics.empty() && whole.empty()) return;
  page.section("Whole videos");
  if (!metrics.empty()) {
    page.paragraph("A trajectory is the path of the sampler through a video's latents, in the order of its steps.");
    page.open_grid();
    for (const std::size_t m : metrics) page.figure(draw(make_mean_plot(view, m)));
    page.close_grid();
  }
  if (whole.empty()) return;
  std::stable_sort(whole.begin(), whole.end(), [](const PairResult* a, const PairResult* b) {
    // Absent p-values come last.
    if ((a->p_permutation == a->p_permutation) != (b->p_permutation == b->p_permutation)) {
      return a->p_permutation == a->p_permutation;
    }
    return a->p_permutation < b->p_permutation;
  });
  report::Table table;
  table.columns = comparison_columns(false);
  for (const PairResult* result : whole) {
    if (table.rows.size() == report::kMaxNumberRows) break;
    table.rows.push_back(comparison_cells(view, *result, nullptr));
  }
  table.note =
      "These comparisons are not corrected for multiple testing: each p is for one comparison, and among many some are "
      "small by chance.";
  if (table.rows.size() < whole.size()) {
    table.note +=
        fmt::format(" Only the first {} of {} are shown.", group_digits(table.rows.size()), group_digits(whole.size()));
  }
  page.open_more(fmt::format("{} of whole videos", whole.size() == 1 ? std::string("1 comparison")
                                                                     : group_digits(whole.size()) + " comparisons"));
  page.table(table);
  page.close_more();
}

void add_separability(report::PageWriter& page, const AnalysisView& view) {
  if (view.separability.empty() && view.separability_note.empty()) return;
  page.section("Separability");
  if (!view.separability_note.empty()) page.paragraph(view.separability_note);
  if (view.separability.empty()) return;
  report::LinePlot plot;
  plot.title = "Distance between groups, all features together";
  plot.caption =
      "Mean distance between videos of different groups divided by that between videos of one group; 1 is no "
      "difference. Standardized: each feature is divided by its standard deviation. Silhouette: from \u22121 to 1; 0 "
      "is no grouping. p: for each step alone, by permutation of the videos' groups.";
  plot.x_title = "step";
  plot.names = {"standardized features", "raw features"};
  report::LinePanel ratio{"ratio of distances", {}, std::vector<report::LineSeries>(2)},
      silhouette{"silhouette", {}, {{}}}, p{"p of the ratio", {}, {{}}};
  const SeparabilityAtStep* most = nullptr;
  for (const SeparabilityAtStep& at : view.separability) {
    plot.x.push_back(static_cast<double>(at.step));
    ratio.lines[0].y.push_back(at.ratio);
    ratio.lines[1].y.push_back(at.ratio_published);
    silhouette.lines[0].y.push_back(at.silhouette);
    p.lines[0].y.push_back(at.p);
    if (at.ratio == at.ratio && (most == nullptr || at.ratio > most->ratio)) most = &at;
  }
  plot.panels = {std::move(ratio), std::move(silhouette), std::move(p)};
  page.figure(draw(plot));
  if (most == nullptr || most->points.empty()) return;
  report::ScatterPlot scatter;
  scatter.title =
      fmt::format("Videos at step {}, where the ratio is largest: {}", most->step, format_number(most->ratio));
  scatter.caption = fmt::format(
      "The first two components. Open marks are group means; ellipses are one standard deviation. p of the ratio: {} "
      "for this step alone, {} after correction for all steps.",
      report::format_p_value(most->p, view.permutations), report::format_p_value(most->p_corrected, view.permutations));
  const auto axis = [&](int component) {
    const double share = most->explained[static_cast<std::size_t>(component - 1)];
    return fmt::format("component {} ({} % of the variance)", component, report::format_fixed(100 * share, 0));
  };
  scatter.x_title = axis(1);
  scatter.y_title = axis(2);
  scatter.points = most->points;
  scatter.group = most->group_of_point;
  scatter.names = view.groups;
  page.figure(draw(scatter));
}

}  // namespace millrace::latents
