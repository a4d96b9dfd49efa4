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
#include "src/pipeline/checkpoint/shard_spec.h"

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
enum class PriceScaling : std::uint8_t { window, global, log };
constexpr std::array<Choice<PriceScaling>, 3> choices_of(PriceScaling) {
  return {{{"window", PriceScaling::window}, {"global", PriceScaling::global}, {"log", PriceScaling::log}}};
}
enum class SortOrder : std::uint8_t { none, date };
constexpr std::array<Choice<SortOrder>, 2> choices_of(SortOrder) {
  return {{{"none", SortOrder::none}, {"date", SortOrder::date}}};
}
// Treatment of rows of one series that have the same time.
enum class DuplicatePolicy : std::uint8_t { error, first, last, keep };
constexpr std::array<Choice<DuplicatePolicy>, 4> choices_of(DuplicatePolicy) {
  return {{{"error", DuplicatePolicy::error},
           {"first", DuplicatePolicy::first},
           {"last", DuplicatePolicy::last},
           {"keep", DuplicatePolicy::keep}}};
}
enum class ChannelMode : std::uint8_t { automatic, gray, rgb };
constexpr std::array<Choice<ChannelMode>, 3> choices_of(ChannelMode) {
  return {{{"auto", ChannelMode::automatic}, {"gray", ChannelMode::gray}, {"rgb", ChannelMode::rgb}}};
}
enum class ChartStore : std::uint8_t { hdf5, zarr, npy, png, jpeg, webdataset, dat };
constexpr std::array<Choice<ChartStore>, 7> choices_of(ChartStore) {
  return {{{"hdf5", ChartStore::hdf5},
           {"zarr", ChartStore::zarr},
           {"npy", ChartStore::npy},
           {"png", ChartStore::png},
           {"jpeg", ChartStore::jpeg},
           {"webdataset", ChartStore::webdataset},
           {"dat", ChartStore::dat}}};
}
enum class PixelType : std::uint8_t { u8, f32, bit };
constexpr std::array<Choice<PixelType>, 3> choices_of(PixelType) {
  return {{{"u8", PixelType::u8}, {"f32", PixelType::f32}, {"bit", PixelType::bit}}};
}

struct RenderOptions {
  std::vector<std::string> inputs;
  std::string output;
  Style style = Style::line;
  PriceScaling scale = PriceScaling::window;
  SortOrder sort = SortOrder::none;
  DuplicatePolicy duplicates = DuplicatePolicy::error;
  ChannelMode channels = ChannelMode::automatic;  // rgb if a colour is not gray
  ChartStore store = ChartStore::hdf5;
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
  ShardSpec share;       // division of the shards among several runs

  // Fills in the style's own values for options that were not given. Failure(usage) if the style does not allow a given
  // one.
  void fill_defaults();
  bool rgb = false;  // valid once defaults are filled

  // Returns true if the store consists of files or folders of `shard` charts.
  bool is_sharded() const {
    return store == ChartStore::zarr || store == ChartStore::png || store == ChartStore::jpeg ||
           store == ChartStore::webdataset;
  }
  bool has_volume() const { return volume.value_or(style == Style::jkx); }
  double line_pixels() const {
    return line_width_points > 0 ? line_width_points * static_cast<double>(dpi) / 72 : line_width;
  }

  // Returns how a window is drawn, once defaults are filled.
  chart::ChartSpec spec() const {
    return {style,
            scale == PriceScaling::log,
            has_volume(),
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
void describe(Settings& settings, RenderOptions& options);

// Attribute that every store of charts has: a name in content_attributes().
inline constexpr const char* kMark = "drawing";

// Returns the options that decide the output's content, as (name, value), once the defaults are filled. The same
// attributes and the same inputs give the same content.
std::vector<std::pair<std::string, std::string>> content_attributes(const RenderOptions& options);

}  // namespace millrace::render
