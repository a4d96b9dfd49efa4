// Input: one window of prices.
// Output: its chart, as foreground runs.
// Never: depends on another window, except with --scale global or a moving average.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "src/kernels/rle/rle.h"
#include "src/memory/workspace.h"

namespace millrace::chart {

// Largest absolute price; a larger one is a gap. The range of a window times the image's height must be a finite
// number.
// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr double kMaxPrice = 1e300;

enum class Style : std::uint8_t { line, ohlc, candle, jkx };
enum PriceColumn : std::size_t { kOpen, kHigh, kLow, kClose, kVolume };

// Levels with their own colour, for rising and falling bars and candles, and the level in which volume is drawn beside
// prices.
inline constexpr std::uint8_t kRising = 204, kFalling = 205, kVolumeLevel = 128;

// Properties that all charts of a kind share.
struct ChartSpec {
  Style style = Style::line;
  bool logarithms = false;    // draw the logarithms of prices
  bool volume = false;        // show volume below the prices
  int width = 0, height = 0;  // pixels
  double line_pixels = 3;     // line width of the style line
  std::size_t rows = 0;       // rows of a window
  std::size_t average = 0;    // number of closes in a moving average; 0: none

  // Returns the number of closes before a window that its chart depends on.
  std::size_t history() const { return average > 0 ? average - 1 : 0; }
  friend bool operator==(const ChartSpec&, const ChartSpec&) = default;
};
// Returns the columns that charts of a style need, in the order in which they are stored.
std::vector<PriceColumn> price_columns_of(const ChartSpec& spec);

// Rows of a window by role, as read: NaN is a gap. Columns that the style does not need are empty.
struct ChartWindow {
  std::array<std::vector<double>, 5> rows;
  std::vector<double> before;  // closes directly before it, up to the number that a moving average needs
  // Ends of the scale if lowest < highest; otherwise the window's own prices determine them.
  double lowest = 0, highest = 0;
};

// Draws charts of one style one after the other, reusing its memory. Used by one thread at a time.
class ChartStyle {
 public:
  virtual ~ChartStyle() = default;
  virtual void draw(const ChartWindow& window, rle::Image& out) = 0;
};

std::unique_ptr<ChartStyle> make_style(const ChartSpec& spec);
Workspace style_workspace(const ChartSpec& spec);

// Scale of a window: prices or their logarithms, from lowest to highest.
class PriceScale {
 public:
  PriceScale(const ChartSpec& spec, const ChartWindow& window, std::initializer_list<PriceColumn> roles);
  // Returns NaN for a missing price; with logarithms, also for a price that is not above 0.
  double value(double price) const;
  // Extends the scale to a further price, unless its ends are given.
  void include(double price);
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

 private:
  bool logarithms_, fixed_, any_ = false;
  double lowest_ = 0, highest_ = 0;
};

// Draws a line of the close. Row i of n lies at x = i (W - 1) / (n - 1), a single one in the middle. At a gap the line
// ends and begins anew, and a price between two gaps is a dot. Constant prices run in the middle. Without a price the
// chart is empty. A moving average is a separate line, one pixel wide, or as wide as the other if that is thinner.
// Volume bars have half the foreground level and are 0.8 of a row's share wide.
std::unique_ptr<ChartStyle> make_line_style(const ChartSpec& spec);

// Draws bars of 4 columns: open tick, stem from high to low, close tick, gap. y = trunc((highest - p) (H - 1) / range),
// the range at least 1e-8. A row that lacks a price is left out. A moving average is drawn first: its values at the
// stems' columns are joined column by column. Volume is drawn below with half the foreground level, as wide as the bar.
std::unique_ptr<ChartStyle> make_bar_style(const ChartSpec& spec);

// Draws candles in a slot of W / n pixels per row. The wick from high to low is in the slot's middle column. Over it
// lies the body from open to close, 0.8 of the slot wide, at least one pixel. Prices are mapped to pixel rows as for
// bars. By default a falling body is full foreground, a rising or unchanged one 0.8 of it. Moving average and volume
// are as for bars.
std::unique_ptr<ChartStyle> make_candle_style(const ChartSpec& spec);

// Draws the images of Jiang, Kelly and Xiu, "(Re-)Imag(in)ing Price Trends". A day has 3 columns: open tick, stem,
// close tick. y = round((p - min) (Ho - 1) / (max - min)) rows from the bottom of the upper Ho, half to even. The
// moving average is drawn first, its values at the days' middle columns joined column by column. Volume is drawn below,
// round(v Hv / max v) pixels from the bottom, Hv = H / 5 rounded down, with a free row above. Without volume Ho = H. If
// max = min, everything is in the middle row. All is computed in double precision, from left to right.
std::unique_ptr<ChartStyle> make_trend_style(const ChartSpec& spec);

}  // namespace millrace::chart
