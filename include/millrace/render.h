// Enters: a batch of series in memory.
// Leaves: a batch of their charts in memory, for training that draws on the fly and stores nothing.
// Never: reads or writes a file, or keeps what it was given.
//
// The charts are those of `millrace render` (docs/render.md), pixel for pixel, for any number of threads and any batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/array.h"
#include "millrace/export.h"

namespace millrace {

struct ChartOptions {
  std::string style = "line";    // line, ohlc, candle or jkx
  int rows = 0;                  // of a series in a chart; 0: 100, for jkx 20
  int width = 0, height = 0;     // in pixels; 0: the style's own (800 x 500; ohlc 4 a row wide; jkx 3 a row)
  double line_width = 3;         // in pixels
  std::string scale = "window";  // window: from a chart's lowest to its highest price; log: of its logarithms
  // A gray from 0 to 255 or #RRGGBB, as text; auto: the style's own. With a colour, images have three channels.
  std::string ink = "auto", paper = "auto", rising = "auto", falling = "auto";
  std::string channels = "auto";  // gray, rgb, or rgb where a colour is not gray
  std::string dtype = "u8";       // u8; f32: byte / 255; bit: 1 where the byte is 128 or more, as numpy.packbits
  std::optional<bool> volume;     // the volume below the prices; none: for jkx alone
  int average = -1;  // closes in a moving average; 0: none, -1: for jkx as many as a chart has rows, else none
  int threads = 0;   // 0: one a core
};

// Thread-safe: calls may overlap, and share the threads.
class MILLRACE_API ChartDrawer {
 public:
  // Throws std::exception with a message that says what to change where options do not fit each other.
  explicit ChartDrawer(const ChartOptions& options);
  ~ChartDrawer();
  ChartDrawer(ChartDrawer&&) noexcept;
  ChartDrawer& operator=(ChartDrawer&&) noexcept;

  int rows() const;     // of a series in a chart
  int columns() const;  // line: 1, the close; else open, high, low, close; with volume: and volume
  int history() const;  // rows before a chart that its moving average looks back at
  int width() const;
  int height() const;
  int channels() const;  // 1 or 3
  // Of one image: [height, width], with three channels [height, width, 3], for bits [height, (width + 7) / 8]; of
  // uint8, or of float32 for f32.
  std::vector<std::int64_t> image_shape() const;
  ElementType image_type() const;
  std::size_t image_bytes() const;

  // `series` is [count, rows, columns], or [count, rows] where there is one column: float64 or float32, each price
  // finite or NaN, which is a gap. Rows above rows() come first and lie before the chart: at most history() of them.
  // `images` is [count, ...image_shape()]. Both lie in this process, row after row, and do not overlap. Throws
  // std::exception with a message that says which of them is not so.
  void draw(const ArrayView& series, const ArrayView& images) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
