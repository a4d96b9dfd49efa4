// Input: a batch of series in memory.
// Output: a batch of their charts in host or device memory, for training that draws charts on the fly and stores none.
// Never: reads or writes a file, or keeps the caller's data.
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
  // Rows of a series in a chart: up to 1,048,576; for ohlc 4,096; for jkx 5, 20 or 60. 0: 100, for jkx 20.
  int rows = 0;
  // Size in pixels, up to 16,384. 0: the default of the style, 800 x 500. ohlc is 4 pixels wide per row and takes only
  // a height. jkx takes neither: it is 15 x 32, 60 x 64 or 180 x 96, depending on its rows. With volume a chart is at
  // least 5 high.
  int width = 0, height = 0;
  double line_width = 3;         // for the style line: 0.1 to 256 pixels
  std::string scale = "window";  // window: from a chart's lowest to its highest price; log: of its logarithms
  // Colours as text: a gray from 0 to 255 or #RRGGBB; auto: the default of the style. With a colour, images have three
  // channels.
  std::string ink = "auto", paper = "auto", rising = "auto", falling = "auto";
  std::string channels = "auto";  // gray, rgb or auto: rgb if a colour is not gray
  std::string dtype = "u8";       // u8; f32: byte / 255; bit: 1 if the byte is 128 or more, as numpy.packbits
  std::optional<bool> volume;     // show the volume below the prices; unset: for jkx only
  // Number of closes in a moving average, up to 1,048,576. 0: none. -1: for jkx the rows of a chart, otherwise none.
  int average = -1;
  int threads = 0;  // 0 or less: one per core that this process may run on

  // Device that draws: cpu, cuda[:N], opencl[:N] or auto. auto: charts for arrays in a device's memory are drawn by
  // that device if its kernels are attested on this hardware (docs/gpu.md), otherwise by the CPU. The CPU replaces a
  // device that cannot draw a chart or drew it wrong.
  std::string device = "auto";
  // Charts drawn by a device that the CPU draws again for comparison before draw() returns: all, sample or none.
  // sample: the first, the last and one in 256 of each batch.
  std::string verify_device = "sample";
  std::uint64_t device_memory = 0;  // maximum of device memory in bytes, besides arrays; 0: 90 % of the free memory
};

// Use of devices by a drawer so far, in charts.
struct DeviceUse {
  std::string device;          // "cuda:0 (NVIDIA H200)"; empty: no arrays were given to a device
  std::uint64_t drawn = 0;     // by the device
  std::uint64_t compared = 0;  // of those, compared with the CPU's charts
  std::uint64_t by_cpu = 0;    // drawn by the CPU instead
  std::string why;             // "cuda:0: ...": reason why the CPU drew some or all; empty if it did not
};

// Thread-safe: calls may overlap and share the threads; calls that use the same device wait for each other. A
// moved-from object may only be assigned to or destroyed.
class MILLRACE_API ChartDrawer {
 public:
  // Throws Failure(usage) with advice if options contradict each other, Failure(unavailable) if there is no such
  // device.
  explicit ChartDrawer(const ChartOptions& options);
  ~ChartDrawer();
  ChartDrawer(ChartDrawer&&) noexcept;
  ChartDrawer& operator=(ChartDrawer&&) noexcept;

  int rows() const;      // rows of a series in a chart
  int columns() const;   // line: 1, the close; otherwise open, high, low, close; with volume one more
  int history() const;   // rows before a chart that its moving average needs
  int width() const;     // in pixels, also for bits
  int height() const;    // in pixels
  int channels() const;  // 1 or 3
  // Shape of one image: [height, width]; with three channels [height, width, 3]; for bits [height, (width + 7) / 8].
  // The type is uint8, or float32 for f32.
  std::vector<std::int64_t> image_shape() const;
  ElementType image_type() const;
  std::size_t image_bytes() const;  // size of one image

  // Draws a batch of charts. `series` is [count, rows, columns], or [count, rows] if there is one column, of float64 or
  // float32. Rows beyond rows() come first and lie before the chart: at most history() of them. A value that is not
  // finite or beyond 1e300 is a gap; with the scale log, also a price that is not above 0. `images` is [count,
  // ...image_shape()] of image_type(). Both arrays must be contiguous(). A count of 0 reads and writes nothing.
  //
  // Each array is in memory of the host (MemoryKind::host, MemoryKind::pinned) or of a CUDA device. For the latter,
  // `memory` is MemoryKind::device and `device` is CUDA's device number. Device memory must be allocated as by
  // cudaMalloc or PyTorch, in this process's primary context, and be aligned to the size of its type. The work runs on
  // a stream of the drawer. So all other work on that memory must have ended before, also on tensors that occupied it
  // earlier (torch.cuda.current_stream().synchronize()). The images are complete when draw() returns. Do not call it
  // during the capture of a CUDA graph.
  //
  // The first call with a device compiles its kernels and tests them with known answers. A drawer keeps its working
  // memory on a device. For lines of 100 rows that is about 130 KB per chart, for at most 2,048 charts, and at most
  // half of device_memory.
  //
  // Throws Failure(usage) that describes the invalid array, before anything is written. Not checked: overlap of the two
  // arrays, and the alignment of `series` in host memory. If memory runs out while the CPU draws, or a device that
  // holds an array is lost, the call throws. `images` may then contain some of the charts, whole or in part. The same
  // holds for Failure(cancelled), thrown if `cancel` is set; it is polled between charts.
  void draw(const ArrayView& series, const ArrayView& images, const CancelToken* cancel = nullptr) const;

  // Returns the use of devices so far; waits for a running draw() on a device.
  DeviceUse device_use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
