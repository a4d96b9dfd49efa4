// Input: a name for a page.
// Output: a page with every block of src/report in several states, or that of `millrace latents`, made of numbers that
// mean
//   nothing.
// Never: reads anything.
//
//   report_sample OUT.html [blocks | differences | alike | single | hostile]
#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "src/jobs/latents/page_for_test.h"
#include "src/kernels/elementary.h"
#include "src/report/number_format.h"
#include "src/report/page/page.h"
#include "src/report/plot/forest_plot.h"
#include "src/report/plot/heat_map.h"
#include "src/report/plot/line_plot.h"
#include "src/report/plot/scatter_plot.h"

namespace {

using namespace millrace::report;  // NOLINT(google-build-using-namespace): a program of the tests

using millrace::cosine_of_turn;
using millrace::exponential;
using millrace::sine_of_turn;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::string kHostile = "</script><img src=x onerror=\"window.broken=1\">'&#0;\u202egpj.exe \xff\xfe";
const std::string kLong =
    "a_prompt_of_a_very_long_name_in_which_a_fox_crosses_a_river_at_dusk_while_the_camera_turns_slowly_to_the_left";

// The same numbers on every machine.
class Numbers {
 public:
  double uniform() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }
  double about_zero() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_ = 1;
};

std::vector<std::string> groups(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("prompt_{:03}", i));
  return names;
}

LinePanel panel_of(Numbers& numbers, const std::string& title, const std::string& unit, std::size_t lines,
                   const std::vector<double>& x, double spread, double size = 1, double offset = 0) {
  LinePanel panel{title, unit, {}};
  for (std::size_t n = 0; n < lines; ++n) {
    LineSeries line;
    const double level = spread * static_cast<double>(n) + 0.1 * numbers.about_zero();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(x.size() - 1, 1));
      const double y = level + (1 - t) * (1 - t) * 0.8 + 0.02 * numbers.about_zero();
      const double half = 0.05 + 0.05 * numbers.uniform();
      line.y.push_back(offset + size * y);
      line.low.push_back(offset + size * (y - half));
      line.high.push_back(offset + size * (y + half));
    }
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

std::vector<double> steps(std::size_t count) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<double>(i);
  return x;
}

LinePlot plot_of(const std::string& title, std::size_t lines, std::size_t count) {
  LinePlot plot;
  plot.title = title;
  plot.caption = "Made-up numbers by step; a band is an interval about them.";
  plot.x_title = "step";
  plot.x = steps(count);
  plot.names = groups(lines);
  plot.interval = "95 % interval";
  return plot;
}

void add_lines(PageWriter& page, Numbers& numbers) {
  page.section("Lines");
  LinePlot two = plot_of("Two groups", 2, 20);
  two.panels = {panel_of(numbers, "spatial.variance", "latent units squared", 2, two.x, 0.6)};
  page.figure(draw(two));
  LinePlot six = plot_of("Six groups, apart from each other", 6, 50);
  six.panels = {panel_of(numbers, "spatial.edge_density", "latent units", 6, six.x, 0.3)};
  page.figure(draw(six));
  LinePlot near = plot_of("Six groups, near each other", 6, 50);
  near.panels = {panel_of(numbers, "temporal.motion", "latent units", 6, near.x, 0.01)};
  page.figure(draw(near));
  LinePlot twelve = plot_of("Twelve groups, with names of strangers", 12, 30);
  twelve.names[1] = kHostile;
  twelve.names[2] = kLong;
  twelve.panels = {panel_of(numbers, "channel.variance", "latent units squared", 12, twelve.x, 0.1)};
  page.figure(draw(twelve));
  LinePlot one = plot_of("One step", 3, 1);
  one.panels = {panel_of(numbers, "global.mean", "latent units", 3, one.x, 0.4)};
  page.figure(draw(one));
  LinePlot gaps = plot_of("Gaps, and a single point between two", 3, 20);
  gaps.panels = {panel_of(numbers, "temporal.autocorrelation", "", 3, gaps.x, 0.5)};
  for (const std::size_t i : {3, 4, 5, 9, 11}) {
    gaps.panels[0].lines[0].y[i] = kNaN;
    gaps.panels[0].lines[0].low[i] = kNaN;
  }
  gaps.panels[0].lines[1].y[19] = kNaN;
  gaps.panels[0].lines[2].y[7] = std::numeric_limits<double>::infinity();
  page.figure(draw(gaps));
  LinePlot many = plot_of("Seven panels that share their steps", 6, 20);
  for (int i = 0; i < 5; ++i)
    many.panels.push_back(panel_of(numbers, fmt::format("patch.{}.variance", 4 << i), "", 6, many.x, 0.1));
  many.panels.push_back(panel_of(numbers, "huge", "W", 6, many.x, 0.1, 1e300));
  many.panels.push_back(panel_of(numbers, "small and below zero", "m", 6, many.x, 0.1, 1e-9, -4e-9));
  page.figure(draw(many));
  LinePlot spectrum = plot_of("Logarithmic", 3, 0);
  spectrum.x_scale = spectrum.y_scale = AxisScale::log10;
  spectrum.x_title = "radius, periods a side";
  spectrum.panels = {{"mean radial spectrum", "power", std::vector<LineSeries>(3)}};
  for (int k = 1; k < 32; ++k) {
    spectrum.x.push_back(k);
    for (std::size_t n = 0; n < 3; ++n)
      spectrum.panels[0].lines[n].y.push_back(1e4 / (k * k * (1.0 + 0.4 * static_cast<double>(n) * k)));
  }
  page.figure(draw(spectrum));
  LinePlot nothing = plot_of("Nothing to be seen", 2, 5);
  nothing.panels = {{"all absent", "", std::vector<LineSeries>(2, LineSeries{std::vector<double>(5, kNaN), {}, {}})}};
  page.figure(draw(nothing));
}

void add_heat_maps(PageWriter& page, Numbers& numbers) {
  page.section("Heat maps");
  HeatMap p;
  p.title = "Family-wise p by metric and step";
  p.caption = "Thirty-five rows, twenty columns, texts of their own in the cells.";
  p.row_title = "metric";
  p.column_title = "step";
  p.value_title = "p";
  p.low = 0;
  p.high = 4;
  p.bar = {{0, "1"}, {1.301, "0.05"}, {2, "0.01"}, {3, "0.001"}};
  p.mark_meaning = "p \u2264 0.05";
  for (int r = 0; r < 35; ++r)
    p.rows.push_back(r == 3 ? kHostile : r == 5 ? kLong : fmt::format("metric.number_{}", r));
  for (int c = 0; c < 20; ++c) p.columns.push_back(std::to_string(c));
  for (int i = 0; i < 700; ++i) {
    const double value = i % 97 == 5 ? kNaN : std::fmin(4, std::fabs(numbers.about_zero()) * (i % 20) / 9.0);
    p.values.push_back(value);
    p.texts.push_back(value == value ? format_number(exponential(-value * 2.302585), 1) : "\u2013");
    p.marks.push_back(value > 1.301);
  }
  page.figure(draw(p));
  HeatMap effects = p;
  effects.title = "Effects about zero";
  effects.shades = Shades::diverging;
  effects.low = effects.high = kNaN;
  effects.bar.clear();
  effects.texts.clear();
  effects.value_title = "Hedges' g";
  effects.rows.resize(8);
  effects.values.resize(160);
  effects.marks.resize(160);
  for (double& value : effects.values) value = numbers.about_zero();
  page.figure(draw(effects));
  page.open_grid();
  for (const int side : {4, 16, 120}) {
    HeatMap map;
    map.title = fmt::format("Correlation of {} channels", side);
    map.row_title = map.column_title = "channel";
    map.value_title = "r";
    map.shades = Shades::diverging;
    map.low = -1;
    map.high = 1;
    map.square = true;
    map.width = 460;
    for (int i = 0; i < side; ++i) map.rows.push_back(std::to_string(i));
    map.columns = map.rows;
    for (int r = 0; r < side; ++r) {
      for (int c = 0; c < side; ++c) map.values.push_back(r == c ? 1 : cosine_of_turn(r * c, side) * 0.9);
    }
    page.figure(draw(map));
    map.triangle = true;
    map.title += ", the half that says it";
    if (side == 16) page.figure(draw(map));
  }
  page.close_grid();
}

void add_points(PageWriter& page, Numbers& numbers) {
  page.section("Points");
  page.open_grid();
  for (const std::size_t count : {2, 6, 12}) {
    ScatterPlot scatter;
    scatter.width = 460;
    scatter.title = fmt::format("{} groups", count);
    scatter.x_title = "component 1 (41 %)";
    scatter.y_title = "component 2 (17 %)";
    scatter.names = groups(count);
    if (count == 6) scatter.names[2] = kHostile;
    for (std::size_t i = 0; i < count * 10; ++i) {
      const auto g = static_cast<double>(i % count);
      const double along = numbers.about_zero();
      scatter.points.push_back(
          {30 * cosine_of_turn(static_cast<long>(g), static_cast<long>(count)) + 8 * along,
           12 * sine_of_turn(static_cast<long>(g), static_cast<long>(count)) + 3 * along + 2 * numbers.about_zero()});
      scatter.group.push_back(i % count);
      scatter.point_names.push_back(fmt::format("{}/vid_{:03}", scatter.names[i % count], i / count));
    }
    page.figure(draw(scatter));
  }
  ScatterPlot one;
  one.width = 460;
  one.title = "One point";
  one.x_title = one.y_title = "component";
  one.names = {"alone"};
  one.points = {{1e300, -1e-300}};
  one.group = {0};
  page.figure(draw(one));
  page.close_grid();
}

void add_effects(PageWriter& page, Numbers& numbers) {
  page.section("Effects");
  ForestPlot effects;
  effects.title = "Twelve effects";
  effects.value_title = "difference in standard deviations";
  effects.mark_meaning = "family-wise p \u2264 0.05";
  for (int i = 0; i < 12; ++i) {
    const double value = 2 - 0.4 * i + 0.2 * numbers.about_zero(), half = 0.4 + 0.3 * numbers.uniform();
    const bool marked = std::fabs(value) > half;
    effects.rows.push_back({i == 2 ? kHostile : fmt::format("spatial.variance_{}", i),
                            i == 3 ? kLong : "prompt_000 against prompt_003, steps 12\u201319", i == 6 ? kNaN : value,
                            value - half, value + half, marked, marked ? "p = 0.003" : "p = 0.41", 0});
  }
  page.figure(draw(effects));
  page.open_grid();
  for (const double size : {1.0, 1e-300, 1e9}) {
    ForestPlot few;
    few.title = fmt::format("By group, about {}", format_number(size));
    few.value_title = "trajectory.path";
    few.line_at = kNaN;
    few.width = 460;
    for (std::size_t g = 0; g < 6; ++g) {
      const double value = size * (3 + numbers.uniform());
      few.rows.push_back({groups(6)[g], "", value, value - size / 5, value + size / 5, true, format_number(value), g});
    }
    page.figure(draw(few));
  }
  page.close_grid();
}

void add_words(PageWriter& page) {
  page.section("Words and tables");
  page.warning("Two files were not used; what is said below is of the others.");
  page.paragraph("A name may hold anything: " + kHostile + ".");
  page.note("A note in smaller letters.");
  page.list({"one thing", kLong, kHostile});
  Table table;
  table.columns = {{"metric"}, {"value", true}, {"p", true}, {"note"}};
  for (int i = 0; i < 40; ++i) {
    const double value = (i % 2 == 0 ? -1 : 1) * (i * i * 37 % 101) * (i % 5 == 0 ? 1e-9 : 1);
    table.rows.push_back({i == 7 ? kHostile : fmt::format("metric_{}", i), i == 4 ? "\u2013" : format_number(value),
                          format_p_value(0.0001 * (i * 7 % 40), 9999), i % 3 == 0 ? "see below" : ""});
  }
  table.note = "Forty rows.";
  page.table(table);
  page.open_more("More of the same");
  page.table(table);
  page.close_more();
}

std::string sample() {
  Numbers numbers;
  PageWriter page("A page of everything", "sample");
  page.lead(
      "12 of 43 things differ between at least one pair of groups (family-wise p \u2264 0.05). The largest is 0.81 "
      "against 1.02.");
  page.lead("Nothing on this page was measured: it shows what the blocks of src/report look like.");
  page.facts({{"12 of 43", "things that differ"}, {"2.10", "the largest effect"}, {"6", "groups"}, {"72", "videos"}});
  add_lines(page, numbers);
  add_heat_maps(page, numbers);
  add_points(page, numbers);
  add_effects(page, numbers);
  page.section(kHostile);
  page.paragraph("A section may have a stranger's name.");
  add_words(page);
  return page.finish();
}

// Names of strangers, gaps, huge numbers.
millrace::latents::AnalysisView hostile() {
  millrace::latents::AnalysisView view = millrace::latents::make_sample_view({.groups = 12, .videos = 5, .steps = 8});
  view.groups[1] = kHostile;
  view.groups[11] = kLong;
  view.metrics[3] = kHostile;
  view.curves[0][0].mean[3] = kNaN;
  view.curves[1][1].mean[2] = 1e300;
  view.curves[2][2].low[1] = -std::numeric_limits<double>::infinity();
  view.left_out = {{kHostile + "/vid_000/step_000.npy", "it holds NaN"}, {"temporal.motion", kLong}};
  return view;
}

std::string page_named(const std::string& name) {
  using namespace millrace::latents;  // NOLINT(google-build-using-namespace)
  if (name == "blocks") return sample();
  if (name == "differences") return make_page(make_sample_view());
  if (name == "alike") return make_page(make_sample_view({.groups = 2, .videos = 4, .differences = false}));
  if (name == "single") return make_page(make_single_video_view());
  if (name == "hostile") return make_page(hostile());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string page = argc == 2 || argc == 3 ? page_named(argc == 3 ? argv[2] : "blocks") : std::string();
    if (page.empty()) {
      std::cerr << "report_sample OUT.html [blocks | differences | alike | single | hostile]\n";
      return 2;
    }
    std::ofstream out(argv[1], std::ios::binary);
    out << page;
    return out.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
