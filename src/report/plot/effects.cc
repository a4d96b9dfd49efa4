#include "src/report/plot/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/report/numbers.h"
#include "src/report/plot/axis.h"
#include "src/report/plot/svg.h"

namespace millrace::report {
namespace {

// Layout: labels to the left, dots, texts to the right.
struct Columns {
  double dots, words;
  std::size_t most_characters;
};

Columns columns_of(const Effects& effects) {
  double label = 0, words = 0;
  const std::size_t most = effects.width < 600 ? 24 : 46;
  for (const Effect& row : effects.rows) {
    label = std::max({label, text_width(shortened(printable(row.label), most)),
                      text_width(shortened(printable(row.of), most + 8), 10)});
    words = std::max(words, text_width(row.words) * 1.04);
  }
  label = std::min(label, effects.width * 0.36);
  return {label + 24, effects.width - 14 - (words > 0 ? words + 14 : 6), most};
}

std::string value_words(const Effect& row) {
  std::string words = number_text(row.value);
  if (row.low == row.low && row.high == row.high) words += " " + interval_text(row.low, row.high);
  if (!row.words.empty()) words += ", " + row.words;
  return words;
}

Table numbers_of(const Effects& effects) {
  Table table;
  table.columns = {
      {"what"}, {effects.value_title.empty() ? "value" : effects.value_title, true}, {"low", true}, {"high", true}};
  const bool words =
      std::any_of(effects.rows.begin(), effects.rows.end(), [](auto& row) { return !row.words.empty(); });
  if (words) table.columns.push_back({"note"});
  for (const Effect& row : effects.rows) {
    if (table.rows.size() == kMostNumberRows) break;
    table.rows.push_back({row.label + (row.of.empty() ? "" : ", " + row.of), number_text(row.value, 4),
                          number_text(row.low, 4), number_text(row.high, 4)});
    if (words) table.rows.back().push_back(row.words);
  }
  if (table.rows.size() < effects.rows.size()) {
    table.note = fmt::format("The first {} of {} rows.", table.rows.size(), effects.rows.size());
  }
  return table;
}

}  // namespace

Figure draw(const Effects& effects) {
  const Columns columns = columns_of(effects);
  const bool two_lines =
      std::any_of(effects.rows.begin(), effects.rows.end(), [](auto& row) { return !row.of.empty(); });
  const double pitch = two_lines ? 32 : 22, top = 12;
  const double bottom = top + pitch * static_cast<double>(effects.rows.size());
  const double plot_width = columns.words - columns.dots;
  Range range;
  for (const Effect& row : effects.rows) {
    for (const double value : {row.value, row.low, row.high}) range.add(value);
  }
  if (effects.line_at == effects.line_at) range.add(effects.line_at);
  const Axis axis(range.low(), range.high(), {.ticks = plot_width < 240 ? 3 : 6});
  const auto x_at = [&](double value) { return columns.dots + axis.place(value) * plot_width; };
  const bool hollow = std::any_of(effects.rows.begin(), effects.rows.end(), [](auto& row) { return !row.marked; });
  const bool legend = hollow && !effects.mark_meaning.empty();

  Svg svg(effects.width, effects.title, effects.description.empty() ? effects.caption : effects.description);
  for (const Tick& tick : axis.ticks()) {
    svg.line({x_at(tick.at), top - 4}, {x_at(tick.at), bottom}, Ink::grid);
    svg.text({x_at(tick.at), bottom + 16}, tick.label, {.ink = Ink::dim, .anchor = Anchor::middle});
  }
  svg.line({columns.dots, bottom}, {columns.words, bottom}, Ink::axis);
  if (axis.shows(effects.line_at)) {
    svg.line({x_at(effects.line_at), top - 4}, {x_at(effects.line_at), bottom}, Ink::axis, 1.2);
  }
  svg.text({columns.dots + plot_width / 2, bottom + 33}, effects.value_title + axis.factor(),
           {.ink = Ink::dim, .anchor = Anchor::middle});

  for (std::size_t i = 0; i < effects.rows.size(); ++i) {
    const Effect& row = effects.rows[i];
    const double y = top + (static_cast<double>(i) + 0.5) * pitch;
    const std::string label = shortened(printable(row.label), columns.most_characters);
    const std::string of = shortened(printable(row.of), columns.most_characters + 8);
    const double right = columns.dots - 12;
    svg.text({right, y + (of.empty() ? 4 : -2)}, label, {.anchor = Anchor::end},
             label == row.label ? std::string() : row.label);
    if (!of.empty()) {
      svg.text({right, y + 10}, of, {.ink = Ink::dim, .anchor = Anchor::end, .size = 10},
               of == row.of ? std::string() : row.of);
    }
    if (axis.shows(row.value)) {
      svg.open_series(row.series, row.label + ": " + value_words(row));
      if (axis.shows(row.low) && axis.shows(row.high)) svg.path({{x_at(row.low), y}, {x_at(row.high), y}}, {}, 1.8);
      svg.mark({x_at(row.value), y}, mark_of(row.series), 4.2, row.marked);
      svg.close();
    } else {
      svg.text({columns.dots + 4, y + 4}, "absent", {.ink = Ink::dim});
    }
    svg.text({columns.words + 14, y + 4}, row.words, {.ink = Ink::dim});
  }
  if (legend) {
    const double y = bottom + 50;
    svg.open_ink(Ink::ink);
    svg.mark({columns.dots + 4, y - 4}, Mark::circle, 3.6);
    svg.close();
    svg.text({columns.dots + 14, y}, effects.mark_meaning, {});
    const double x = columns.dots + 14 + text_width(effects.mark_meaning) * 1.05 + 18;
    svg.open_ink(Ink::ink);
    svg.mark({x, y - 4}, Mark::circle, 3.6, false);
    svg.close();
    svg.text({x + 10, y}, "not so", {});
  }
  return {effects.title, effects.caption, svg.finish(bottom + 42 + (legend ? 20 : 0)), effects.width,
          numbers_of(effects)};
}

}  // namespace millrace::report
