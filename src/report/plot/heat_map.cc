#include "src/report/plot/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/report/number_format.h"
#include "src/report/plot/axis.h"
#include "src/report/plot/svg.h"

namespace millrace::report {
namespace {

constexpr std::size_t kMaxLabelCharacters = 34;
// Largest number of cells with a title each. More cells are one path per shade: the page would be several times as
// large.
constexpr std::size_t kMaxTooltips = 1024;

struct Layout {
  double left, top, cell_width, cell_height;
  bool upright_columns;
  std::size_t row_every = 1, column_every = 1;  // number of rows, or of columns, per label
  std::size_t first_row = 0;                    // 1 for a triangle, whose first row is empty

  double y_of(std::size_t row) const { return top + static_cast<double>(row - first_row) * cell_height; }
};

// Returns the most characters of a row's or a column's name.
std::size_t most_label(const HeatMap& map) { return map.width < 600 ? 26 : kMaxLabelCharacters; }

double widest(const std::vector<std::string>& names, std::size_t most) {
  double width = 0;
  for (const std::string& name : names)
    width = std::max(width, 1.06 * text_width(shorten_middle(escape_unprintable(name), most)));
  return width;
}

Layout layout_of(const HeatMap& map) {
  Layout layout{};
  layout.first_row = map.triangle && !map.rows.empty() ? 1 : 0;
  const std::size_t most = most_label(map);
  layout.left = std::min(widest(map.rows, most) + 12, map.width * 0.38) + (map.row_title.empty() ? 0 : 18);
  const double columns = static_cast<double>(std::max<std::size_t>(map.columns.size(), 1));
  layout.cell_width = std::min((map.width - layout.left - 12) / columns, map.square ? 40.0 : 64.0);
  layout.cell_height = map.square ? layout.cell_width : 19;
  // Column names are upright if they do not fit side by side; only some are shown if they are too near even then.
  const double widest_column = widest(map.columns, most);
  const bool short_names = widest_column <= 30;
  layout.upright_columns = widest_column + 4 > layout.cell_width && !short_names;
  const double needs = layout.upright_columns ? 11 : widest_column + 5;
  layout.column_every = static_cast<std::size_t>(std::ceil(std::max(needs / layout.cell_width, 1.0)));
  layout.row_every = static_cast<std::size_t>(std::ceil(std::max(11 / layout.cell_height, 1.0)));
  layout.top = 10 + (layout.upright_columns ? widest_column + 6 : 14) + (map.column_title.empty() ? 0 : 16);
  return layout;
}

// Returns the values at the ends of the shades.
std::pair<double, double> ends_of(const HeatMap& map) {
  ValueRange range;
  range.add(map.values);
  double low = map.low == map.low ? map.low : range.low();
  double high = map.high == map.high ? map.high : range.high();
  if (!(low == low) || !(high == high)) return {0, 1};
  if (map.shades == Shades::diverging && !(map.low == map.low)) {
    high = std::max(std::fabs(low), std::fabs(high));
    low = -high;
  }
  // Equal numbers are in the middle of the shades.
  if (!(high / 2 > low / 2)) {
    constexpr double kMinValue = 1e-300;  // its half must not become zero
    const double apart = low == 0 ? 1 : std::max(std::fabs(low) / 2, kMinValue);
    low -= apart;
    high += apart;
  }
  return {low, high};
}

double part_of(double value, std::pair<double, double> ends) {
  return (std::clamp(value, ends.first, ends.second) / 2 - ends.first / 2) / (ends.second / 2 - ends.first / 2);
}

std::string cell_text(const HeatMap& map, std::size_t i) {
  return map.texts.empty() ? format_number(map.values[i], 3) : map.texts[i];
}

// Returns texts for the cells, as exact as there is room for; empty if there is none. Either all cells have a text,
// with as many decimals, or none has: some here and some there would look like a choice.
std::vector<std::string> cell_words(const HeatMap& map, double room) {
  double largest = 0;
  for (const double value : map.values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const bool own = !map.texts.empty();
  // Numbers that are never above one are written without the zero in front of the point.
  const bool below_one = own || largest <= 1;
  for (const int decimals : {2, 1, 0}) {
    // The largest number has at least one digit.
    if (!own && largest < (decimals == 2 ? 0.01 : decimals == 1 ? 0.95 : 9.5)) break;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      std::string text = own ? map.texts[i] : format_fixed(map.values[i], decimals);
      const std::size_t zero = text.find("0.");
      if (below_one && (zero == 0 || (zero == 3 && text.starts_with("\u2212")))) text.erase(zero, 1);
      words.push_back(std::move(text));
    }
    const auto fits = [room](const std::string& one) { return text_width(one, 9) <= room; };
    if (std::all_of(words.begin(), words.end(), fits)) return words;
    if (own) break;
  }
  return {};
}

void draw_labels(Svg& svg, const HeatMap& map, const Layout& layout) {
  const std::size_t most = most_label(map);
  const double grid_width = layout.cell_width * static_cast<double>(map.columns.size());
  const auto hover_of = [](const std::string& shown, const std::string& name) {
    return shown == name ? std::string() : name;
  };
  for (std::size_t r = layout.first_row; r < map.rows.size(); r += layout.row_every) {
    const std::string shown = shorten_middle(escape_unprintable(map.rows[r]), most);
    svg.text({layout.left - 6, layout.y_of(r) + 0.5 * layout.cell_height + 4}, shown,
             {.anchor = Anchor::end, .size = layout.cell_height < 11 ? 9.0 : 11.0}, hover_of(shown, map.rows[r]));
  }
  for (std::size_t c = 0; c + layout.first_row < map.columns.size(); c += layout.column_every) {
    const std::string shown = shorten_middle(escape_unprintable(map.columns[c]), most);
    const double x = layout.left + (static_cast<double>(c) + 0.5) * layout.cell_width;
    if (layout.upright_columns) {
      svg.text({x + 4, layout.top - 5}, shown, {.upright = true}, hover_of(shown, map.columns[c]));
    } else {
      svg.text({x, layout.top - 5}, shown, {.anchor = Anchor::middle}, hover_of(shown, map.columns[c]));
    }
  }
  if (!map.column_title.empty()) {
    svg.text({layout.left + grid_width / 2, 12}, map.column_title,
             {.foreground = Foreground::dim, .anchor = Anchor::middle});
  }
  if (!map.row_title.empty()) {
    svg.text({12, (layout.top + layout.y_of(map.rows.size())) / 2}, map.row_title,
             {.foreground = Foreground::dim, .anchor = Anchor::middle, .upright = true});
  }
}

// Calls `draw(i, r, c)` for each cell that exists.
template <typename Draw>
void for_cells(const HeatMap& map, Draw&& draw) {
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const std::size_t r = i / map.columns.size(), c = i % map.columns.size();
    if (!map.triangle || c < r) draw(i, r, c);
  }
}

void draw_cells(Svg& svg, const HeatMap& map, const Layout& layout, std::pair<double, double> ends) {
  const bool titled = map.hover && map.values.size() <= kMaxTooltips;
  // A hairline between cells that are large enough to have one.
  const double gap = layout.cell_width >= 9 && layout.cell_height >= 9 ? 1 : 0;
  const double width = layout.cell_width - gap, height = layout.cell_height - gap;
  const auto colour_of = [&](std::size_t i) {
    const double value = map.values[i];
    return value == value ? shade(map.shades, part_of(value, ends)) : std::string(kAbsentColor);
  };
  const auto corner_of = [&](std::size_t r, std::size_t c) {
    return PlotPoint{layout.left + static_cast<double>(c) * layout.cell_width, layout.y_of(r)};
  };
  std::map<std::string, std::vector<PlotPoint>> by_shade;
  for_cells(map, [&](std::size_t i, std::size_t r, std::size_t c) {
    if (!titled) {
      by_shade[colour_of(i)].push_back(corner_of(r, c));
      return;
    }
    const bool absent = map.values[i] != map.values[i];
    std::string hover = map.rows[r] + ", " + map.columns[c] + ": " + (absent ? "absent" : cell_text(map, i));
    if (!map.marks.empty() && map.marks[i]) hover += " (" + map.mark_meaning + ")";
    svg.box(corner_of(r, c), width, height, colour_of(i), hover);
  });
  for (const auto& [colour, corners] : by_shade) svg.boxes(corners, width, height, colour);

  // A mark is beside a text, or alone in the middle.
  const bool marks = std::find(map.marks.begin(), map.marks.end(), true) != map.marks.end();
  const std::vector<std::string> words =
      layout.cell_height < 14 ? std::vector<std::string>() : cell_words(map, layout.cell_width - (marks ? 9 : 3));
  for_cells(map, [&](std::size_t i, std::size_t r, std::size_t c) {
    if (map.values[i] != map.values[i]) return;
    const PlotPoint corner = corner_of(r, c), middle{corner[0] + width / 2, corner[1] + height / 2};
    const std::string colour = colour_of(i);
    if (!words.empty()) svg.text_on({middle[0] - (marks ? 3 : 0), middle[1]}, words[i], colour, 9);
    if (map.marks.empty() || !map.marks[i]) return;
    if (words.empty()) {
      svg.dot_on(middle, colour, std::clamp(std::min(width, height) / 5, 0.8, 2.4));
    } else {
      svg.dot_on({corner[0] + width - 3.5, corner[1] + 4}, colour, 1.8);
    }
  });
}

// Draws the bar of shades and returns where it ends.
double draw_bar(Svg& svg, const HeatMap& map, PlotPoint corner, std::pair<double, double> ends) {
  constexpr double kLength = 195, kThick = 9;  // three pixels per shade
  for (int k = 0; k <= kShadeSteps; ++k) {
    svg.box({corner[0] + k * kLength / (kShadeSteps + 1), corner[1]}, kLength / (kShadeSteps + 1), kThick,
            shade(map.shades, static_cast<double>(k) / kShadeSteps));
  }
  std::vector<std::pair<double, std::string>> ticks = map.bar;
  std::string factor;
  if (ticks.empty()) {
    const Axis axis(ends.first, ends.second, {.ticks = 4, .ends_at_ticks = false});
    for (const AxisTick& tick : axis.ticks()) ticks.emplace_back(tick.at, tick.label);
    factor = axis.factor();
  }
  double taken = -1e9;  // end of the label before
  for (const auto& [value, label] : ticks) {
    const double x = corner[0] + part_of(value, ends) * kLength, half = text_width(label, 10) / 2;
    if (value < ends.first || value > ends.second || x - half < taken + 4) continue;
    taken = x + half;
    svg.line({x, corner[1] + kThick}, {x, corner[1] + kThick + 3}, Foreground::axis);
    svg.text({x, corner[1] + kThick + 13}, label,
             {.foreground = Foreground::dim, .anchor = Anchor::middle, .size = 10});
  }
  double x = corner[0] + kLength + 12;
  const std::string title = map.value_title + factor;
  svg.text({x, corner[1] + kThick}, title, {});
  x += text_width(title) * 1.05 + 16;
  // Other explanations follow the title, or go below it if the picture is narrow.
  double y = corner[1];
  const auto room = [&](double needs) {
    if (x + needs <= map.width) return;
    x = corner[0];
    y += y == corner[1] ? 32 : 18;
  };
  if (std::any_of(map.values.begin(), map.values.end(), [](double v) { return v != v; })) {
    room(70);
    svg.box({x, y}, 12, kThick, kAbsentColor);
    svg.text({x + 17, y + kThick}, "absent", {.foreground = Foreground::dim});
    x += 70;
  }
  if (std::find(map.marks.begin(), map.marks.end(), true) != map.marks.end()) {
    room(text_width(map.mark_meaning) + 16);
    svg.open_foreground(Foreground::foreground);
    svg.mark({x + 4, y + 5}, MarkerShape::circle, 2.2);
    svg.close();
    svg.text({x + 12, y + kThick}, map.mark_meaning, {.foreground = Foreground::dim});
  }
  return std::max(corner[1] + kThick + 20, y + kThick + 10);
}

Table numbers_of(const HeatMap& map) {
  Table table;
  table.columns.push_back({map.row_title.empty() ? "row" : map.row_title});
  for (const std::string& column : map.columns) table.columns.push_back({column, true});
  const std::size_t columns = map.columns.size();
  // The number of cells limits the table, too.
  const std::size_t most = std::min(kMaxNumberRows, std::max<std::size_t>(1, 6000 / std::max<std::size_t>(columns, 1)));
  for (std::size_t r = 0; r < std::min(map.rows.size(), most); ++r) {
    std::vector<std::string> row = {map.rows[r]};
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t i = r * columns + c;
      std::string text = map.triangle && c >= r ? std::string() : cell_text(map, i);
      if (!map.marks.empty() && map.marks[i]) text += " •";
      row.push_back(std::move(text));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.size() < map.rows.size()) {
    table.note = fmt::format("Only the first {} of {} rows are shown. ", group_digits(table.rows.size()),
                             group_digits(map.rows.size()));
  }
  if (std::find(map.marks.begin(), map.marks.end(), true) != map.marks.end()) table.note += "•: " + map.mark_meaning;
  return table;
}

}  // namespace

Figure draw(const HeatMap& map) {
  const std::size_t cells = map.rows.size() * map.columns.size();
  if (map.values.size() != cells || (!map.texts.empty() && map.texts.size() != cells) ||
      (!map.marks.empty() && map.marks.size() != cells)) {
    throw Failure(ErrorCode::internal, "the cells of a heat map do not match its rows and columns", map.title);
  }
  const Layout layout = layout_of(map);
  const auto ends = ends_of(map);
  const double bottom = layout.y_of(map.rows.size());
  Svg svg(map.width, map.title, map.description.empty() ? map.caption : map.description);
  draw_labels(svg, map, layout);
  draw_cells(svg, map, layout, ends);
  const double end = draw_bar(
      svg, map, {std::floor(std::min(layout.left, map.width < 600 ? 20.0 : layout.left)), std::floor(bottom) + 14},
      ends);
  return {map.title, map.caption, svg.finish(end), map.width, numbers_of(map)};
}

}  // namespace millrace::report
