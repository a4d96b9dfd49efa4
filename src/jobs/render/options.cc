#include "src/jobs/render/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>

#include "src/base/text.h"
#include "src/kernels/ink/ink.h"

namespace millrace::render {
namespace {

double number(std::string_view text, double lowest, double highest) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= lowest && value <= highest)) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a number from {} to {}", text, lowest, highest));
  }
  return value;
}

long long whole(std::string_view text, long long lowest, long long highest) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a whole number from {} to {}", text, lowest, highest));
  }
  return value;
}

void parse_size(const std::string& text, Options& options) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != 2) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a size", text), "", "use WIDTHxHEIGHT, as 800x500");
  }
  options.width = static_cast<int>(whole(parts[0], 1, ink::kLongestSide));
  options.height = static_cast<int>(whole(parts[1], 1, ink::kLongestSide));
}

void parse_line_width(const std::string& text, Options& options) {
  const bool points = text.ends_with("pt");
  const std::string_view digits(text.data(), text.size() - (points || text.ends_with("px") ? 2 : 0));
  (points ? options.line_width_points : options.line_width) = number(digits, 0.1, 256);
  if (!points) options.line_width_points = 0;
}

// "close=Adj Close,date=Day"; a name alone is the column that a line is drawn of.
void parse_columns(const std::string& text, Options& options) {
  static const std::set<std::string> kRoles = {"close", "date"};
  options.columns.clear();
  if (trim(text).empty()) return;
  for (const std::string& part : split(text, ',')) {
    const auto equals = part.find('=');
    const std::string role = equals == std::string::npos ? "close" : lower_ascii(trim(part.substr(0, equals)));
    const std::string name(trim(equals == std::string::npos ? part : part.substr(equals + 1)));
    if (kRoles.count(role) == 0 || name.empty()) {
      throw Failure(ErrorCode::usage, fmt::format("'{}' names no column", part), "",
                    "use ROLE=NAME with ROLE close or date, as close=Adj Close");
    }
    options.columns[role] = name;
  }
}

}  // namespace

void describe(Settings& settings, Options& options) {
  settings.heading("Drawing");
  settings.add_choice("style", {"line"}, "what a chart shows", options.style);
  settings.add_parsed("size", "WxH", "width and height of a chart in pixels", "800x500",
                      [&options](const std::string& text) { parse_size(text, options); });
  settings.add_parsed("line-width", "WIDTH", "of the line: 3px, or 3pt at --dpi", "3px",
                      [&options](const std::string& text) { parse_line_width(text, options); });
  settings.add_integer("dpi", "N", "dots an inch, where a width is in points", options.dpi, 1, 10000);
  settings.add_integer("ink", "LEVEL", "gray of the ink, 0 black to 255 white", options.ink, 0, 255);
  settings.add_integer("paper", "LEVEL", "gray of the background", options.paper, 0, 255);
  settings.heading("Series");
  settings.add_integer("window", "N", "rows of the series in a chart", options.window, 1, 1 << 20);
  settings.add_integer("stride", "N", "rows from one chart's first to the next one's", options.stride, 1, 1 << 30);
  settings.add_parsed("columns", "ROLE=NAME,...",
                      "columns whose header is not their role's name: close=Adj Close,date=Day", "",
                      [&options](const std::string& text) { parse_columns(text, options); });
  settings.add_choice("scale", {"window", "global", "log"},
                      "from the lowest to the highest price of each window, of the whole series, or of each window's "
                      "logarithms",
                      options.scale);
  settings.add_parsed("labels", "H,...", "store close[t + H] / close[t] - 1, t being the window's last row", "",
                      [&options](const std::string& text) {
                        options.horizons.clear();
                        if (trim(text).empty()) return;
                        for (const std::string& part : split(text, ',')) {
                          options.horizons.push_back(whole(trim(part), 1, 1 << 30));
                        }
                      });
  settings.add_integer("limit", "N", "only the first N charts; 0 is all", options.limit, 0, 1LL << 48);
  settings.heading("Output");
  settings.add_text("output", "OUTPUT", "the store, or the contact sheet with --sample", options.output);
  settings.add_choice("store", {"hdf5"}, "what is written", options.store);
  settings.add_integer("shard", "N", "charts after which a killed run can go on", options.shard, 1, 1LL << 40);
  settings.add_integer("sample", "K", "draw K charts, evenly spaced, onto one PNG sheet, and stop", options.sample, 0,
                       10000);
}

std::vector<std::pair<std::string, std::string>> record(const Settings& settings) {
  // What says where and in which portions, not what.
  static const std::set<std::string> kElsewhere = {"output", "shard", "sample"};
  std::vector<std::pair<std::string, std::string>> out;
  for (const Settings::Entry& entry : settings.entries()) {
    if (entry.group != "Running" && kElsewhere.count(entry.name) == 0) out.emplace_back(entry.name, entry.text());
  }
  return out;
}

}  // namespace millrace::render
