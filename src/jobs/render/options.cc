#include "src/jobs/render/options.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/jobs/render/encode/format.h"
#include "src/kernels/rle/rle.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::render {
namespace {

// Parses "800x500", or "x500" if the style has its own width.
void parse_size(const std::string& text, RenderOptions& options) {
  options.width = options.height = 0;
  if (text == "auto") return;
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != 2) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a size", text), "",
                  "use WIDTHxHEIGHT, for example 800x500");
  }
  if (!parts[0].empty()) options.width = static_cast<int>(parse_whole_number(parts[0], 1, rle::kMaxSide));
  options.height = static_cast<int>(parse_whole_number(parts[1], 1, rle::kMaxSide));
}

std::string text_of(rle::Colour c) {
  return c.gray() ? std::to_string(c.red) : fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue);
}

// Heights of the images of Jiang, Kelly and Xiu, "(Re-)Imag(in)ing Price Trends", by days.
const std::map<long long, int> kTrendHeights = {{5, 32}, {20, 64}, {60, 96}};

void parse_line_width(const std::string& text, RenderOptions& options) {
  const bool points = text.ends_with("pt");
  const std::string_view digits(text.data(), text.size() - (points || text.ends_with("px") ? 2 : 0));
  (points ? options.line_width_points : options.line_width) = parse_number(digits, 0.1, 256);
  if (!points) options.line_width_points = 0;
}

// Parses "close=Adj Close,date=Day"; a name alone is the column that a line is drawn of.
void parse_columns(const std::string& text, RenderOptions& options) {
  static const std::set<std::string> kRoles = {"open", "high", "low", "close", "volume", "date", "time"};
  options.columns.clear();
  if (trim(text).empty()) return;
  for (const std::string& part : split(text, ',')) {
    const auto equals = part.find('=');
    const std::string role = equals == std::string::npos ? "close" : lower_ascii(trim(part.substr(0, equals)));
    const std::string name(trim(equals == std::string::npos ? part : part.substr(equals + 1)));
    if (kRoles.count(role) == 0 || name.empty()) {
      throw Failure(ErrorCode::usage, fmt::format("'{}' does not name a column", part), "",
                    "use ROLE=NAME, for example close=Adj Close; ROLE is open, high, low, close, volume, date or time");
    }
    options.columns[role] = name;
  }
}

}  // namespace

std::optional<rle::Colour> parse_colour(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (!text.starts_with("#")) {
    const auto gray = static_cast<std::uint8_t>(parse_whole_number(text, 0, 255));
    return rle::Colour{gray, gray, gray};
  }
  const auto color = parse_color(text);
  if (!color) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a colour", text), "",
                  "use a gray from 0 to 255, or #RRGGBB, for example #c00020");
  }
  return rle::Colour{(*color)[0], (*color)[1], (*color)[2]};
}

void describe(Settings& settings, RenderOptions& options) {
  settings.set_heading("Drawing");
  settings.add_choice(
      "style", "draw a line of closes, OHLC bars, candles, or the layout of \"Re-imag(in)ing Price Trends\" (jkx)",
      options.style);
  settings.add_parsed(
      "size", "WxH", "set a chart's size in pixels; 800x500, for ohlc a height only, such as x500; jkx has fixed sizes",
      "auto", [&options](const std::string& text) { parse_size(text, options); });
  settings.add_parsed("line-width", "WIDTH", "set the width of the line, in pixels (3px) or in points at --dpi (3pt)",
                      "3px", [&options](const std::string& text) { parse_line_width(text, options); });
  settings.add_integer("dpi", "N", "set the dots per inch for widths in points", options.dpi, 1, 10000);
  const auto add_colour = [&settings](const char* name, const char* help, std::optional<rle::Colour>& value) {
    settings.add_parsed(name, "COLOUR", help, "auto",
                        [&value](const std::string& text) { value = parse_colour(text); });
  };
  add_colour("ink", "draw in this gray from 0 (black) to 255 (white), or #RRGGBB; default: 0, or 255 for jkx",
             options.ink);
  add_colour("paper", "fill the background with this gray or #RRGGBB; default: 255, or 0 for jkx", options.paper);
  add_colour("rising",
             "draw rising bars and candle bodies in this colour; default: that of --ink, paler for candle bodies",
             options.rising);
  add_colour("falling", "draw falling bars and candle bodies in this colour; default: that of --ink", options.falling);
  settings.add_choice("channels", "store gray or RGB pixels; auto is rgb if a colour is not gray", options.channels);
  settings.add_switch("volume", "draw the volume in the lowest fifth of the chart; default: only for jkx",
                      options.volume);
  settings.add_integer(
      "ma", "N", "draw a moving average of N closes; 0 is none, -1 is the rows of a window for jkx, otherwise none",
      options.average, -1, 1 << 20);
  settings.set_heading("Series");
  settings.add_integer("window", "N", "draw N rows in each chart; 0 is 100, or 20 for jkx", options.window, 0, 1 << 20);
  settings.add_integer("stride", "N", "move forward N rows from one chart to the next", options.stride, 1, 1 << 30);
  settings.add_parsed("columns", "ROLE=NAME,...",
                      "name columns with other headers: close=Adj Close,date=Day; date=none skips checking the order",
                      "", [&options](const std::string& text) { parse_columns(text, options); });
  settings.add_text("by", "COLUMN",
                    "split the table into series by this column, such as symbol; none treats it as one series",
                    options.by);
  settings.add_choice("sort", "sort rows by date (date), or refuse tables whose rows are not in order (none)",
                      options.sort);
  settings.add_choice(
      "duplicates", "on rows with the same time in a series: refuse the file, use the first, use the last, or keep all",
      options.duplicates);
  settings.add_choice("date-order", "read dates like 01/02/03 in this order; auto decides from the whole column",
                      options.date_order);
  settings.add_choice(
      "scale", "scale prices to each window, to the whole series, future included (global), or to window logarithms",
      options.scale);
  settings.add_parsed("labels", "H,...",
                      "store the return H rows after a window's last row t: close[t + H] / close[t] - 1", "",
                      [&options](const std::string& text) {
                        options.horizons.clear();
                        if (trim(text).empty()) return;
                        for (const std::string& part : split(text, ',')) {
                          options.horizons.push_back(parse_whole_number(trim(part), 1, 1 << 30));
                        }
                      });
  settings.add_integer("limit", "N", "draw only the first N charts; 0 draws all", options.limit, 0, 1LL << 48);
  settings.set_heading("Output");
  settings.add_text("output", "OUTPUT", "write the charts to this file or folder, or the contact sheet of --sample",
                    options.output);
  settings.add_choice("store", "write this format: one file for hdf5, otherwise a folder", options.store);
  settings.add_choice("dtype",
                      "store a pixel as a byte (u8), as byte / 255 (f32), or as a bit, 1 if the byte is at least 128",
                      options.dtype);
  settings.add_integer("quality", "N", "set the JPEG quality from 1 to 100, as in libjpeg", options.quality, 1, 100);
  settings.add_switch("virtual", "keep the shards of hdf5 beside OUTPUT, which becomes a virtual dataset over them",
                      options.virtual_set);
  settings.add_integer(
      "shard", "N",
      "store N charts per shard: what a run resumes from, a zarr or webdataset file, a png or jpeg folder",
      options.shard, 1, 1LL << 40);
  describe(settings, options.share);
  settings.add_integer("sample", "K",
                       "draw only K charts, evenly spaced, onto one PNG contact sheet; 0 writes all charts",
                       options.sample, 0, 10000);
}

void RenderOptions::fill_defaults() {
  if (share && sample > 0) {
    throw Failure(ErrorCode::usage, "a contact sheet cannot be divided into shards", "--part",
                  "leave out --part or --sample");
  }
  window_given = window > 0;
  if (line_pixels() > stroke::Rasterizer::kWidest) {
    throw Failure(ErrorCode::usage,
                  fmt::format("a line of {:.0f} pixels is too wide; the limit is {:.0f}", line_pixels(),
                              stroke::Rasterizer::kWidest),
                  "--line-width");
  }
  if (style == Style::jkx) {
    if (window == 0) window = 20;
    if (width > 0 || height > 0) {
      throw Failure(ErrorCode::usage, "the style jkx has fixed sizes: 15x32, 60x64 and 180x96", "--size",
                    "leave it out, and choose --window 5, 20 or 60");
    }
    if (kTrendHeights.count(window) == 0) {
      throw Failure(ErrorCode::usage,
                    fmt::format("the style jkx supports windows of 5, 20 and 60 rows, not {}", window), "--window");
    }
    if (scale != PriceScaling::window)
      throw Failure(ErrorCode::usage, "the style jkx supports only the scale window", "--scale");
    width = static_cast<int>(3 * window);
    height = kTrendHeights.at(window);
    if (average < 0) average = window;
  } else {
    if (window == 0) window = 100;
    if (height == 0) height = 500;
  }
  average = std::max(0LL, average);
  if (has_volume() && height < 5) {
    throw Failure(ErrorCode::usage, fmt::format("a chart {} pixels high is too small to show the volume", height),
                  "--size", "use a height of at least 5, or --no-volume");
  }
  if (style == Style::ohlc) {
    if (width > 0) {
      throw Failure(ErrorCode::usage,
                    fmt::format("the style ohlc sets the width itself: {} pixels, 4 per bar", 4 * window), "--size",
                    fmt::format("give only the height, for example x{}", height));
    }
    if (4 * window > rle::kMaxSide) {
      throw Failure(ErrorCode::usage,
                    fmt::format("{} bars of 4 pixels are too wide; the limit is {} pixels", window, rle::kMaxSide),
                    "--window");
    }
    width = static_cast<int>(4 * window);
  } else if (width == 0) {
    width = 800;
  }
  fill_default_colours();
  if (virtual_set && store != ChartStore::hdf5) {
    throw Failure(ErrorCode::usage, fmt::format("the store {} does not support virtual datasets", choice_name(store)),
                  "--virtual", "leave it out, or use --store hdf5");
  }
  const auto refuse_dtype = [&](const char* why, const char* remedy) {
    throw Failure(ErrorCode::usage, fmt::format("{}, not {}", why, choice_name(dtype)), "--dtype", remedy);
  };
  if (store == ChartStore::jpeg && dtype != PixelType::u8)
    refuse_dtype("JPEG stores only u8", "leave it out, or use another --store");
  if ((store == ChartStore::png || store == ChartStore::webdataset) && dtype == PixelType::f32) {
    refuse_dtype("PNG stores only u8 and bit", "leave it out, or use another --store");
  }
  if (rgb && dtype == PixelType::bit) {
    throw Failure(ErrorCode::usage, "bit does not support colours", "--dtype",
                  "use --dtype u8, or grays without --channels rgb");
  }
}

void RenderOptions::fill_default_colours() {
  const auto all = [](std::uint8_t gray) { return rle::Colour{gray, gray, gray}; };
  const bool bars = style == Style::ohlc || style == Style::candle;
  if (!bars && (rising || falling)) {
    throw Failure(ErrorCode::usage, fmt::format("the style {} has one colour", choice_name(style)),
                  rising ? "--rising" : "--falling", "use --ink, or --style ohlc or candle");
  }
  if (!ink) ink = all(style == Style::jkx ? 255 : 0);
  if (!paper) paper = all(style == Style::jkx ? 0 : 255);
  if (!falling) falling = ink;
  // The default of a candle's rising body is its gray.
  if (!rising) rising = style == Style::candle ? rle::colour_table(*paper, *ink)[chart::kRising] : *ink;
  const bool coloured = !ink->gray() || !paper->gray() || !rising->gray() || !falling->gray();
  if (channels == ChannelMode::gray && coloured) {
    throw Failure(ErrorCode::usage, "gray does not support the given colours", "--channels",
                  "leave it out, or give grays from 0 to 255");
  }
  rgb = channels == ChannelMode::rgb || coloured;
}

std::vector<std::pair<std::string, std::string>> content_attributes(const RenderOptions& options) {
  // Number of the drawing: it is raised when the same options draw other pixels.
  constexpr int kDrawing = 2;
  std::vector<std::string> columns;
  for (const auto& [role, name] : options.columns) columns.push_back(fmt::format("{}={}", role, name));
  std::vector<std::pair<std::string, std::string>> out = {
      {"style", choice_name(options.style)},
      {"size", fmt::format("{}x{}", options.width, options.height)},
      {"window", std::to_string(options.window)},
      {"stride", std::to_string(options.stride)},
      {"scale", choice_name(options.scale)},
      {"columns", fmt::format("{}", fmt::join(columns, ","))},
      {"labels", fmt::format("{}", fmt::join(options.horizons, ","))},
      {"ink", text_of(*options.ink)},
      {"paper", text_of(*options.paper)},
      {"channels", options.rgb ? "rgb" : "gray"},
      {"by", options.by},
      {"sort", choice_name(options.sort)},
      {"duplicates", choice_name(options.duplicates)},
      {"date-order", choice_name(options.date_order)},
      {"limit", std::to_string(options.limit)},
      {"store", choice_name(options.store)},
      {"dtype", choice_name(options.dtype)},
      {"drawing", std::to_string(kDrawing)},
  };
  if (options.style == Style::line) out.emplace_back("line-width", fmt::format("{}px", options.line_pixels()));
  if (options.style == Style::ohlc || options.style == Style::candle) {
    out.emplace_back("rising", text_of(*options.rising));
    out.emplace_back("falling", text_of(*options.falling));
  }
  if (options.store == ChartStore::jpeg) out.emplace_back("quality", std::to_string(options.quality));
  // Shards are part of the final output here, so their size decides its content.
  if (options.virtual_set || options.is_sharded()) out.emplace_back("shard", std::to_string(options.shard));
  if (options.store == ChartStore::hdf5) out.emplace_back("virtual", options.virtual_set ? "true" : "false");
  out.emplace_back("volume", options.has_volume() ? "true" : "false");
  out.emplace_back("ma", std::to_string(options.average));
  return out;
}

}  // namespace millrace::render
