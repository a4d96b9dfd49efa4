// Input: one window of prices.
// Output: its chart, as runs of ink.
// Never: depends on another window, unless --scale global or a moving average says so.
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

// A price beyond is a gap: the range of a window, times a picture's height, must be a number.
inline constexpr double kLargest = 1e300;

enum class Style : std::uint8_t { line, ohlc, candle, jkx };
enum Role : std::size_t { kOpen, kHigh, kLow, kClose, kVolume };

// Levels that stand for a colour of their own in bars and candles; and what volume is drawn in beside prices.
inline constexpr std::uint8_t kRising = 204, kFalling = 205, kVolumeLevel = 128;

// What every chart of a kind has in common.
struct Spec {
  Style style = Style::line;
  bool logarithms = false;    // prices are drawn by theirs
  bool volume = false;        // below the prices
  int width = 0, height = 0;  // pixels
  double line_pixels = 3;     // of the style line
  std::size_t rows = 0;       // of a window
  std::size_t average = 0;    // closes in a moving average; 0: none

  // Closes before a window that its chart depends on.
  std::size_t history() const { return average > 0 ? average - 1 : 0; }
  friend bool operator==(const Spec&, const Spec&) = default;
};
// What charts of a style are drawn of, in the order in which they are stored.
std::vector<Role> roles_of(const Spec& spec);

// Rows of a window by role, as read: NaN is a gap. Roles that the style does not need are empty.
struct Window {
  std::array<std::vector<double>, 5> rows;
  std::vector<double> before;  // closes right before it, as many as there are and a moving average needs
  // The ends of the scale, where lowest < highest; else they are the window's own.
  double lowest = 0, highest = 0;
};

// Draws charts of one style, one after the other, with the memory of the first. One thread at a time.
class ChartStyle {
 public:
  virtual ~ChartStyle() = default;
  virtual void draw(const Window& window, rle::Image& out) = 0;
};

std::unique_ptr<ChartStyle> make_style(const Spec& spec);
Workspace style_workspace(const Spec& spec);

// The scale that a window is drawn on: prices, or their logarithms, from lowest to highest.
class Scale {
 public:
  Scale(const Spec& spec, const Window& window, std::initializer_list<Role> roles);
  // NaN where there is no price; with logarithms, where it is not above 0.
  double value(double price) const;
  // A price that must lie on it too, where its ends are the window's own.
  void include(double price);
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

 private:
  bool logarithms_, fixed_, any_ = false;
  double lowest_ = 0, highest_ = 0;
};

// A line of the close. Row i of n lies at x = i (W - 1) / (n - 1), a single one in the middle; at a gap the line ends
// and begins anew, and a price between two gaps is a dot. Constant prices run in the middle. Without a price the chart
// is empty. A moving average is a line of its own, one pixel wide or as wide as the other where that is thinner; volume
// bars are half ink, 0.8 of a row's share wide.
std::unique_ptr<ChartStyle> make_line_style(const Spec& spec);

// Bars of 4 columns: open tick, stem from high to low, close tick, gap. y = trunc((highest - p) (H - 1) / range), the
// range at least 1e-8. A row that lacks a price is left out. A moving average is drawn first, its value at each stem's
// column joined column by column; volume is half ink below, as wide as the bar.
std::unique_ptr<ChartStyle> make_bar_style(const Spec& spec);

// A slot of W / n pixels for each row: the wick from high to low in its middle column; over it the body from open to
// close, 0.8 of the slot wide, at least a pixel. Rows of pixels as for bars. A body that falls is all ink, one that
// rises or stays 0.8 of it. Moving average and volume as for bars.
std::unique_ptr<ChartStyle> make_candle_style(const Spec& spec);

// The images of Jiang, Kelly and Xiu, "(Re-)Imag(in)ing Price Trends": 3 columns a day, open tick, stem, close tick;
// y = round((p - min) (Ho - 1) / (max - min)) rows from the bottom of the upper Ho, half to even; the moving average
// first, its value at each day's middle column joined column by column; volume below, round(v Hv / max v) pixels from
// the bottom, Hv = H / 5 rounded down, a row free above. Without volume Ho = H. Where max = min, everything is in the
// middle row. All in double precision, from left to right.
std::unique_ptr<ChartStyle> make_trend_style(const Spec& spec);

}  // namespace millrace::chart
