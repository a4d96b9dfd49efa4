#include "src/jobs/render/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "src/base/text.h"
#include "src/jobs/render/encode/format.h"
#include "src/jobs/render/series/inputs_json.h"

namespace millrace::render {
namespace {

[[noreturn]] void throw_no_charts(const ChartPlan& plan, const RenderOptions& options) {
  std::size_t longest = 0;
  for (const PriceSource& source : plan.sources) longest = std::max(longest, source.rows);
  throw Failure(ErrorCode::bad_data,
                fmt::format("no series has the {} rows of a window; the longest has {}", options.window, longest), "",
                // The style jkx has windows of 5, 20 and 60 rows only.
                longest > 0 && options.style != Style::jkx ? fmt::format("use --window {}", longest) : "");
}

}  // namespace

ChartPlan::WindowPosition ChartPlan::position(const RenderOptions& options, std::uint64_t chart) const {
  const auto next = std::upper_bound(first.begin(), first.end(), chart);
  const auto source = static_cast<std::size_t>(next - first.begin()) - 1;
  return {source, sources[source].row_of(options, static_cast<std::size_t>(chart - first[source]))};
}

std::uint64_t ChartPlan::gaps() const {
  std::uint64_t out = 0;
  for (const PriceSource& source : sources) out += source.gaps;
  return out;
}

std::uint64_t ChartPlan::repeats() const {
  std::uint64_t out = 0;
  for (const PriceSource& source : sources) out += source.repeats;
  return out;
}

ChartPlan::SeriesCounts ChartPlan::series(const RenderOptions& options) const {
  SeriesCounts out;
  for (const PriceSource& source : sources) {
    // Ready windows have nothing to report but their rows.
    if (source.ready > 0) continue;
    ++out.all;
    out.undated += source.dates.has_notation() ? 0 : 1;
    out.sorted += source.sorted ? 1 : 0;
    out.short_ones += source.windows(options) == 0 ? 1 : 0;
  }
  return out;
}

ChartPlan make_plan(const RenderOptions& options, RunContext& context) {
  if (options.inputs.empty()) {
    throw Failure(ErrorCode::usage, "no input was given", "render", "name CSV, .npy or HDF5 files");
  }
  ChartPlan plan;
  SourceOpener opener(options, context);
  std::uint32_t usable = 0;
  for (const std::string& input : options.inputs) {
    try {
      std::vector<PriceSource> opened = opener.open(input);
      if (opened.size() > 1) plan.sources.reserve(plan.sources.size() + opened.size());
      for (PriceSource& source : opened) {
        source.input = usable;
        plan.sources.push_back(std::move(source));
      }
      ++usable;
    } catch (const Failure& failure) {
      // These errors do not make the input unusable: another machine could read it, and leaving it out would draw less.
      const ErrorCode code = failure.error().code;
      if (code == ErrorCode::usage || code == ErrorCode::cancelled || code == ErrorCode::out_of_memory) throw;
      plan.unusable.push_back(failure.error());
    }
  }
  if (plan.sources.empty()) throw Failure(plan.unusable.front());
  plan.window = plan.sources.front().window_length(options);
  std::size_t date_bytes = 0, symbol_bytes = 0;
  for (const PriceSource& source : plan.sources) {
    if ((options.style != Style::line || options.window_given) &&
        source.window_length(options) != static_cast<std::size_t>(options.window)) {
      throw Failure(
          ErrorCode::usage,
          fmt::format("its windows have {} rows, but {} are to be drawn", source.window_length(options),
                      options.window),
          source.name,
          options.style == Style::jkx
              ? std::string(
                    "use windows of 5, 20 or 60 rows with that --window, or an array [T, 4] or [T, 5] for one series")
              : fmt::format("use --window {}, or {} for one series", source.window_length(options),
                            options.style == Style::line ? "a one-dimensional array" : "an array [T, 4] or [T, 5]"));
    }
    if (source.window_length(options) != plan.window) {
      throw Failure(ErrorCode::usage,
                    fmt::format("its windows have {} rows, but those of {} have {}", source.window_length(options),
                                plan.sources.front().name, plan.window),
                    source.name, "use inputs with windows of one length; set that of series with --window");
    }
    plan.first.push_back(plan.charts);
    plan.charts += source.windows(options);
    date_bytes = std::max(date_bytes, source.dates.longest());
    symbol_bytes = std::max(symbol_bytes, source.symbol.size());
  }
  plan.first.push_back(plan.charts);
  if (plan.charts == 0) throw_no_charts(plan, options);
  if (options.limit > 0) plan.charts = std::min(plan.charts, static_cast<std::uint64_t>(options.limit));

  ChartLayout& layout = plan.layout;
  layout.charts = plan.charts;
  const Format format = format_of(options);
  layout.image = format.image;
  layout.floats = format.kind == PixelKind::floats;
  layout.window = static_cast<std::uint32_t>(plan.window);
  layout.columns = static_cast<std::uint32_t>(price_columns_of(options.spec()).size());
  layout.horizons = options.horizons;
  layout.date_bytes = static_cast<std::uint32_t>(date_bytes);
  layout.symbol_bytes = static_cast<std::uint32_t>(symbol_bytes);
  RenderOptions drawn = options;
  drawn.window = static_cast<long long>(plan.window);
  layout.attributes = content_attributes(drawn);
  // A column may have a name that is not UTF-8; the attributes of a store are UTF-8.
  for (auto& [name, value] : layout.attributes) value = replace_invalid_utf8(value);
  layout.attributes.emplace_back("inputs", inputs_json(plan.sources));
  return plan;
}

const chart::ChartWindow& WindowReader::read(std::uint64_t chart) {
  const ChartPlan::WindowPosition position = plan_.position(options_, chart);
  const PriceSource& source = plan_.sources[position.source];
  for (const PriceColumn role : roles_) {
    window_.rows[role].resize(plan_.window);
    source.columns[role].read(position.row, window_.rows[role]);
  }
  // A ready window has no rows before it.
  const std::size_t before = source.ready > 0 ? 0 : std::min(options_.spec().history(), position.row);
  window_.before.resize(before);
  if (before > 0) source.columns[kClose].read(position.row - before, window_.before);
  if (options_.scale == PriceScaling::global) {
    window_.lowest = source.lowest;
    window_.highest = source.highest;
  }
  return window_;
}

void WindowReader::append_series(std::vector<double>& series, std::vector<double>& ends) const {
  // Only a moving average uses rows before the window, namely closes; rows that are missing are NaN.
  const std::size_t history = options_.spec().history(), missing = history - window_.before.size();
  for (std::size_t row = 0; row < history; ++row) {
    for (const PriceColumn role : roles_) {
      series.push_back(role == kClose && row >= missing ? window_.before[row - missing]
                                                        : std::numeric_limits<double>::quiet_NaN());
    }
  }
  for (std::size_t row = 0; row < plan_.window; ++row) {
    for (const PriceColumn role : roles_) series.push_back(window_.rows[role][row]);
  }
  ends.push_back(window_.lowest);
  ends.push_back(window_.highest);
}

void WindowReader::sequence(std::vector<float>& out) const {
  out.clear();
  for (std::size_t i = 0; i < plan_.window; ++i) {
    for (const PriceColumn role : roles_) out.push_back(static_cast<float>(window_.rows[role][i]));
  }
}

void fill_row(const ChartPlan& plan, const RenderOptions& options, std::uint64_t chart, ChartRow& row) {
  const ChartPlan::WindowPosition position = plan.position(options, chart);
  const PriceSource& source = plan.sources[position.source];
  const std::size_t last = position.row + plan.window - 1;
  row.chart = chart;
  row.file = source.input;
  row.row = position.row;
  row.symbol = source.symbol;
  row.date = source.dates.text(position.row);
  row.end_date = source.dates.text(last);
  row.end_time = source.dates.time(last);
  row.labels.clear();
  for (const std::int64_t horizon : options.horizons) {
    const std::size_t then = last + static_cast<std::size_t>(horizon);
    float label = std::numeric_limits<float>::quiet_NaN();
    // Ready windows have no rows after them.
    if (source.ready == 0 && then < source.rows) {
      std::array<double, 1> now{}, later{};
      source.columns[kClose].read(last, now);
      source.columns[kClose].read(then, later);
      // A return on a price of 0 or less is undefined.
      if (now[0] > 0) label = static_cast<float>(later[0] / now[0] - 1);
    }
    row.labels.push_back(label);
  }
}

}  // namespace millrace::render
