// Input: what a person wants drawn, how, and where it goes.
// Output: the same as one described table.
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

// For --by: a table is one series, whatever its columns say.
constexpr const char* kOneSeries = "none";

using chart::Style;
// From the lowest to the highest price of a window, of the series, or of a window's logarithms.
enum class Scaling : std::uint8_t { window, global, log };
constexpr std::array<Choice<Scaling>, 3> choices_of(Scaling) {
  return {{{"window", Scaling::window}, {"global", Scaling::global}, {"log", Scaling::log}}};
}
enum class Sort : std::uint8_t { none, date };
constexpr std::array<Choice<Sort>, 2> choices_of(Sort) { return {{{"none", Sort::none}, {"date", Sort::date}}}; }
// What is done with rows of one series that have the same time.
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
  Channels channels = Channels::automatic;  // rgb where a colour is not gray
  Store store = Store::hdf5;
  PixelType dtype = PixelType::u8;
  bool virtual_set = false;
  DateOrder date_order = DateOrder::unknown;  // told by the column
  int width = 0, height = 0;                  // 0: the style's own
  double line_width = 3;                      // in pixels
  double line_width_points = 0;               // instead, when above 0
  long long dpi = 100;
  long long window = 0, stride = 1;            // window 0: the style's own
  std::map<std::string, std::string> columns;  // role -> header
  std::string by;                              // the column that names the series; kOneSeries; empty: not told
  std::vector<std::int64_t> horizons;
  std::optional<rle::Colour> ink, paper;       // none: the style's own
  std::optional<rle::Colour> rising, falling;  // of bars and candles; none: the ink's
  std::optional<bool> volume;                  // none: in jkx alone
  bool window_given = false;
  long long average = -1;  // closes in a moving average; 0: none, -1: jkx as many as a window has rows, others none
  long long quality = 95;  // of JPEG
  long long shard = 10000;
  long long limit = 0;   // 0: all windows
  long long sample = 0;  // charts on a contact sheet; 0: a store
  Share share;           // of the shards, among several runs

  // Puts the style's own values where none were given. Failure(usage) where one was that the style does not allow.
  void fill_defaults();
  bool rgb = false;  // once defaults are filled

  // The store is files or folders of `shard` charts.
  bool sharded() const {
    return store == Store::zarr || store == Store::png || store == Store::jpeg || store == Store::webdataset;
  }
  bool draws_volume() const { return volume.value_or(style == Style::jkx); }
  double line_pixels() const {
    return line_width_points > 0 ? line_width_points * static_cast<double>(dpi) / 72 : line_width;
  }

  // What is drawn of a window, once defaults are filled.
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

// "128" or "#c00020"; nothing for "auto". Failure(usage) for anything else.
std::optional<rle::Colour> parse_colour(const std::string& text);

// The options of `millrace render` except the inputs, which have no flag.
void describe(Settings& settings, Options& options);

// What every store of charts says of itself: a name in content_attributes().
inline constexpr const char* kMark = "drawing";

// What decides the output's content, as (name, value), once the defaults are filled: the same attributes and the same
// inputs give the same content.
std::vector<std::pair<std::string, std::string>> content_attributes(const Options& options);

}  // namespace millrace::render
