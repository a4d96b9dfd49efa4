#include "src/report/plot/forest_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/report/number_format.h"
#include "src/report/plot/axis.h"
#include "src/report/plot/svg.h"

namespace millrace::report {
namespace {

// Layout: labels to the left, dots, texts to the right.
struct Columns {
  double dots, words;
  std::size_t most_characters;
};

Columns columns_of(const ForestPlot& effects) {
  double label = 0, words = 0;
  const std::size_t most = effects.width < 600 ? 24 : 46;
  for (const ForestPlotRow& row : effects.rows) {
    label = std::max({label, text_width(shorten_middle(escape_unprintable(row.label), most)),
                      text_width(shorten_middle(escape_unprintable(row.of), most + 8), 10)});
    words = std::max(words, text_width(row.words) * 1.04);
  }
  label = std::min(label, effects.width * 0.36);
  return {label + 24, effects.width - 14 - (words > 0 ? words + 14 : 6), most};
}

std::string value_words(const ForestPlotRow& row) {
  std::string words = format_number(row.value);
  if (row.low == row.low && row.high == row.high) words += " " + format_interval(row.low, row.high);
  if (!row.words.empty()) words += ", " + row.words;
  return words;
}

Table numbers_of(const ForestPlot& effects) {
  Table table;
  table.columns = {
      {"item"}, {effects.value_title.empty() ? "value" : effects.value_title, true}, {"low", true}, {"high", true}};
  const bool words =
      std::any_of(effects.rows.begin(), effects.rows.end(), [](auto& row) { return !row.words.empty(); });
  if (words) table.columns.push_back({"note"});
  for (const ForestPlotRow& row : effects.rows) {
    if (table.rows.size() == kMaxNumberRows) break;
    table.rows.push_back({row.label + (row.of.empty() ? "" : ", " + row.of), format_number(row.value, 4),
                          format_number(row.low, 4), format_number(row.high, 4)});
    if (words) table.rows.back().push_back(row.words);
  }
  if (table.rows.size() < effects.rows.size()) {
    table.note = fmt::format("Only the first {} of {} rows are shown.", table.rows.size(), effects.rows.size());
  }
  return table;
}

}  // namespace

Figure draw(const ForestPlot& effects) {
  const Columns columns = columns_of(effects);
  const bool two_lines =
      std::any_of(effects.rows.begin(), effects.rows.end(), [](auto& row) { return !row.of.empty(); });
  const double pitch = two_lines ? 32 : 22, top = 12;
  const double bottom = top + pitch * static_cast<double>(effects.rows.size());
  const double plot_width = columns.words - columns.dots;
  ValueRange range;
  for (const ForestPlotRow& row : effects.rows) {
    for (const double value : {row.value, row.low, row.high}) range.add(value);
  }
  if (effects.line_at == effects.line_at) range.add(effects.line_at);
  const Axis axis(range.low(), range.high(), {.ticks = plot_width < 240 ? 3 : 6});
  const auto x_at = [&](double value) { return columns.dots + axis.place(value) * plot_width; };
  const bool hollow = std::any_of(effects.rows.begin(), effects.rows.end(), [](auto& row) { return !row.marked; });
  const bool legend = hollow && !effects.mark_meaning.empty();

  Svg svg(effects.width, effects.title, effects.description.empty() ? effects.caption : effects.description);
  for (const AxisTick& tick : axis.ticks()) {
    svg.line({x_at(tick.at), top - 4}, {x_at(tick.at), bottom}, Foreground::grid);
    svg.text({x_at(tick.at), bottom + 16}, tick.label, {.foreground = Foreground::dim, .anchor = Anchor::middle});
  }
  svg.line({columns.dots, bottom}, {columns.words, bottom}, Foreground::axis);
  if (axis.can_show(effects.line_at)) {
    svg.line({x_at(effects.line_at), top - 4}, {x_at(effects.line_at), bottom}, Foreground::axis, 1.2);
  }
  svg.text({columns.dots + plot_width / 2, bottom + 33}, effects.value_title + axis.factor(),
           {.foreground = Foreground::dim, .anchor = Anchor::middle});

  for (std::size_t i = 0; i < effects.rows.size(); ++i) {
    const ForestPlotRow& row = effects.rows[i];
    const double y = top + (static_cast<double>(i) + 0.5) * pitch;
    const std::string label = shorten_middle(escape_unprintable(row.label), columns.most_characters);
    const std::string of = shorten_middle(escape_unprintable(row.of), columns.most_characters + 8);
    const double right = columns.dots - 12;
    svg.text({right, y + (of.empty() ? 4 : -2)}, label, {.anchor = Anchor::end},
             label == row.label ? std::string() : row.label);
    if (!of.empty()) {
      svg.text({right, y + 10}, of, {.foreground = Foreground::dim, .anchor = Anchor::end, .size = 10},
               of == row.of ? std::string() : row.of);
    }
    if (axis.can_show(row.value)) {
      svg.open_series(row.series, row.label + ": " + value_words(row));
      if (axis.can_show(row.low) && axis.can_show(row.high))
        svg.path({{x_at(row.low), y}, {x_at(row.high), y}}, {}, 1.8);
      svg.mark({x_at(row.value), y}, mark_of(row.series), 4.2, row.marked);
      svg.close();
    } else {
      svg.text({columns.dots + 4, y + 4}, "absent", {.foreground = Foreground::dim});
    }
    svg.text({columns.words + 14, y + 4}, row.words, {.foreground = Foreground::dim});
  }
  if (legend) {
    const double y = bottom + 50;
    svg.open_foreground(Foreground::foreground);
    svg.mark({columns.dots + 4, y - 4}, MarkerShape::circle, 3.6);
    svg.close();
    svg.text({columns.dots + 14, y}, effects.mark_meaning, {});
    const double x = columns.dots + 14 + text_width(effects.mark_meaning) * 1.05 + 18;
    svg.open_foreground(Foreground::foreground);
    svg.mark({x, y - 4}, MarkerShape::circle, 3.6, false);
    svg.close();
    svg.text({x + 10, y}, "other", {});
  }
  return {effects.title, effects.caption, svg.finish(bottom + 42 + (legend ? 20 : 0)), effects.width,
          numbers_of(effects)};
}

}  // namespace millrace::report
