// Input: the user's choices of what is drawn, how, and where it is stored.
// Output: the same choices as one table of options.
// Never: opens files.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/table/dates.h"
#include "src/kernels/chart/chart.h"
#include "src/kernels/rle/pixels.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace {

constexpr std::array<Choice<DateOrder>, 4> choices_of(DateOrder) {
  return {{{"auto", DateOrder::unknown},
           {"ymd", DateOrder::year_first},
           {"dmy", DateOrder::day_first},
           {"mdy", DateOrder::month_first}}};
}

namespace chart {
constexpr std::array<Choice<Style>, 4> choices_of(Style) {
  return {{{"line", Style::line}, {"ohlc", Style::ohlc}, {"candle", Style::candle}, {"jkx", Style::jkx}}};
}
}  // namespace chart

}  // namespace millrace

namespace millrace::render {

// Value of --by: a table is one series, whatever its columns are.
constexpr const char* kOneSeries = "none";

using chart::Style;
// Range of prices that fills a chart: from the lowest to the highest of a window, of the series, or of a window's
// logarithms.
enum class Scaling : std::uint8_t { window, global, log };
constexpr std::array<Choice<Scaling>, 3> choices_of(Scaling) {
  return {{{"window", Scaling::window}, {"global", Scaling::global}, {"log", Scaling::log}}};
}
enum class Sort : std::uint8_t { none, date };
constexpr std::array<Choice<Sort>, 2> choices_of(Sort) { return {{{"none", Sort::none}, {"date", Sort::date}}}; }
// Treatment of rows of one series that have the same time.
enum class Duplicates : std::uint8_t { error, first, last, keep };
constexpr std::array<Choice<Duplicates>, 4> choices_of(Duplicates) {
  return {{{"error", Duplicates::error},
           {"first", Duplicates::first},
           {"last", Duplicates::last},
           {"keep", Duplicates::keep}}};
}
enum class Channels : std::uint8_t { automatic, gray, rgb };
constexpr std::array<Choice<Channels>, 3> choices_of(Channels) {
  return {{{"auto", Channels::automatic}, {"gray", Channels::gray}, {"rgb", Channels::rgb}}};
}
enum class Store : std::uint8_t { hdf5, zarr, npy, png, jpeg, webdataset, dat };
constexpr std::array<Choice<Store>, 7> choices_of(Store) {
  return {{{"hdf5", Store::hdf5},
           {"zarr", Store::zarr},
           {"npy", Store::npy},
           {"png", Store::png},
           {"jpeg", Store::jpeg},
           {"webdataset", Store::webdataset},
           {"dat", Store::dat}}};
}
enum class PixelType : std::uint8_t { u8, f32, bit };
constexpr std::array<Choice<PixelType>, 3> choices_of(PixelType) {
  return {{{"u8", PixelType::u8}, {"f32", PixelType::f32}, {"bit", PixelType::bit}}};
}

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  Style style = Style::line;
  Scaling scale = Scaling::window;
  Sort sort = Sort::none;
  Duplicates duplicates = Duplicates::error;
  Channels channels = Channels::automatic;  // rgb if a colour is not gray
  Store store = Store::hdf5;
  PixelType dtype = PixelType::u8;
  bool virtual_set = false;
  DateOrder date_order = DateOrder::unknown;  // decided by the column
  int width = 0, height = 0;                  // 0: the style's own
  double line_width = 3;                      // in pixels
  double line_width_points = 0;               // in points; used instead if above 0
  long long dpi = 100;
  long long window = 0, stride = 1;            // window 0: the style's own
  std::map<std::string, std::string> columns;  // role -> header
  std::string by;                              // column that names the series; kOneSeries; empty: not given
  std::vector<std::int64_t> horizons;
  std::optional<rle::Colour> ink, paper;       // none: the style's own
  std::optional<rle::Colour> rising, falling;  // for bars and candles; none: derived from `ink`
  std::optional<bool> volume;                  // none: only in jkx
  bool window_given = false;
  long long average = -1;  // closes in a moving average; 0: none, -1: jkx as many as a window has rows, others none
  long long quality = 95;  // JPEG quality
  long long shard = 10000;
  long long limit = 0;   // 0: all windows
  long long sample = 0;  // charts on a contact sheet; 0: make a store
  Share share;           // division of the shards among several runs

  // Fills in the style's own values for options that were not given. Failure(usage) if the style does not allow a given
  // one.
  void fill_defaults();
  bool rgb = false;  // valid once defaults are filled

  // Returns true if the store consists of files or folders of `shard` charts.
  bool sharded() const {
    return store == Store::zarr || store == Store::png || store == Store::jpeg || store == Store::webdataset;
  }
  bool draws_volume() const { return volume.value_or(style == Style::jkx); }
  double line_pixels() const {
    return line_width_points > 0 ? line_width_points * static_cast<double>(dpi) / 72 : line_width;
  }

  // Returns how a window is drawn, once defaults are filled.
  chart::Spec spec() const {
    return {style,
            scale == Scaling::log,
            draws_volume(),
            width,
            height,
            line_pixels(),
            static_cast<std::size_t>(window),
            static_cast<std::size_t>(average)};
  }

 private:
  void fill_default_colours();
};

// Parses "128" or "#c00020"; nullopt for "auto". Failure(usage) for anything else.
std::optional<rle::Colour> parse_colour(const std::string& text);

// The options of `millrace render` except the inputs, which have no flag.
void describe(Settings& settings, Options& options);

// Attribute that every store of charts has: a name in content_attributes().
inline constexpr const char* kMark = "drawing";

// Returns the options that decide the output's content, as (name, value), once the defaults are filled. The same
// attributes and the same inputs give the same content.
std::vector<std::pair<std::string, std::string>> content_attributes(const Options& options);

}  // namespace millrace::render
