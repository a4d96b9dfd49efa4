// Input: a batch of series in memory.
// Output: a batch of their charts in memory, the host's or a device's, for training that draws on the fly and stores
//   nothing.
// Never: reads or writes a file, or keeps what it was given.
//
// The charts are those of `millrace render` (docs/render.md), pixel for pixel, for any number of threads, any batch and
// any device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/array.h"
#include "millrace/cancel.h"
#include "millrace/error.h"
#include "millrace/export.h"

namespace millrace {

struct ChartOptions {
  std::string style = "line";  // line, ohlc, candle or jkx
  // Of a series in a chart: up to 1,048,576, for ohlc 4,096, for jkx 5, 20 or 60. 0: 100, for jkx 20.
  int rows = 0;
  // In pixels, up to 16,384; 0: the style's own, 800 x 500. ohlc is 4 a row wide and takes a height alone; jkx takes
  // neither: 15 x 32, 60 x 64 or 180 x 96, by its rows. With volume a chart is at least 5 high.
  int width = 0, height = 0;
  double line_width = 3;         // of the style line: 0.1 to 256 pixels
  std::string scale = "window";  // window: from a chart's lowest to its highest price; log: of its logarithms
  // A gray from 0 to 255 or #RRGGBB, as text; auto: the style's own. With a colour, images have three channels.
  std::string ink = "auto", paper = "auto", rising = "auto", falling = "auto";
  std::string channels = "auto";  // gray, rgb, or rgb where a colour is not gray
  std::string dtype = "u8";       // u8; f32: byte / 255; bit: 1 where the byte is 128 or more, as numpy.packbits
  std::optional<bool> volume;     // the volume below the prices; none: for jkx alone
  // Closes in a moving average, up to 1,048,576; 0: none, -1: for jkx as many as a chart has rows, else none.
  int average = -1;
  int threads = 0;  // 0 or less: one a core that this process may run on

  // What draws: cpu; cuda[:N] or opencl[:N]; auto: for arrays in a device's memory that device, where hardware has
  // attested its kernels (docs/gpu.md), else the CPU. What a device cannot do, or did wrong, the CPU does.
  std::string device = "auto";
  // Charts that a device drew and the CPU draws as well before draw() returns: all; sample: of each batch the first,
  // the last and one in 256; none.
  std::string verify_device = "sample";
  std::uint64_t device_memory = 0;  // the most of a device's, in bytes, beside arrays; 0: 90 % of what is free
};

// What devices did for a drawer so far, in charts.
struct DeviceUse {
  std::string device;          // "cuda:0 (NVIDIA H200)"; empty: no arrays were given to one
  std::uint64_t drawn = 0;     // by it
  std::uint64_t compared = 0;  // of them with the CPU's
  std::uint64_t by_cpu = 0;    // by the CPU in its place
  std::string why;             // "cuda:0: ..." why some or all are the CPU's; empty where none is
};

// Thread-safe: calls may overlap, and share the threads; those that go to one device wait for each other. One that was
// moved from may only be assigned to or destroyed.
class MILLRACE_API ChartDrawer {
 public:
  // Throws Failure(usage) that says what to change where options do not fit each other; (unavailable) where there is no
  // such device.
  explicit ChartDrawer(const ChartOptions& options);
  ~ChartDrawer();
  ChartDrawer(ChartDrawer&&) noexcept;
  ChartDrawer& operator=(ChartDrawer&&) noexcept;

  int rows() const;      // of a series in a chart
  int columns() const;   // line: 1, the close; else open, high, low, close; with volume: and volume
  int history() const;   // rows before a chart that its moving average looks back at
  int width() const;     // in pixels, for bits too
  int height() const;    // in pixels
  int channels() const;  // 1 or 3
  // Of one image: [height, width], with three channels [height, width, 3], for bits [height, (width + 7) / 8]; of
  // uint8, or of float32 for f32.
  std::vector<std::int64_t> image_shape() const;
  ElementType image_type() const;
  std::size_t image_bytes() const;  // of one image

  // `series` is [count, rows, columns], or [count, rows] where there is one column: float64 or float32. Rows above
  // rows() come first and lie before the chart: at most history() of them. What is not finite or beyond 1e300 is a gap,
  // with the scale log also a price that is not above 0. `images` is [count, ...image_shape()] of image_type(). Both
  // are contiguous(). A count of 0 reads and writes nothing.
  //
  // Each is in memory of the host (MemoryKind::host, MemoryKind::pinned) or of a CUDA device (MemoryKind::device, and
  // in `device` CUDA's number of it), as cudaMalloc and PyTorch allocate it: in this process's primary context, at a
  // multiple of its type's size. The work is on a stream of the drawer's own. So what streams may still do with that
  // memory must have ended before, also with what a tensor lay there earlier
  // (torch.cuda.current_stream().synchronize()); all is there when this returns. Not while a graph is captured.
  //
  // The first call with a device compiles its kernels and asks for known answers. What a drawer needs on a device it
  // keeps: for lines of 100 rows about 130 KB a chart, of at most 2,048 charts, and no more than half of device_memory.
  //
  // Throws Failure(usage) that says which of them is not as it should be, before anything is written.
  // Not checked: that the two do not overlap, and that the host's `series` is aligned as its type is. Where memory runs
  // out while the CPU draws, or a device is lost that an array is on, that is thrown, and `images` may hold some of
  // them, whole or in part; so is Failure(cancelled) where `cancel`, which is looked at between charts, says so.
  void draw(const ArrayView& series, const ArrayView& images, const CancelToken* cancel = nullptr) const;

  // Waits for a draw() that a device is at.
  DeviceUse device_use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
