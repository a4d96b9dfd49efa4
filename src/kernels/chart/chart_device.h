// Input: series and space for images, each in host or device memory.
// Output: the charts of the series in the images, drawn on the device, byte for byte as series_painter.h draws them.
// Never: returns with a batch of which no chart was compared with the CPU's, except with --verify-device none.
//
// On the device it needs, besides series and images, about 130 KB per chart of lines of 100 rows, for one batch at a
// time. With a moving average it needs twice that.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/chart/chart.h"
#include "src/kernels/chart/format.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {

struct ImageArray {
  void* data = nullptr;
  bool on_device = false;  // in memory of the accelerator's device
};

// Numbers of charts so far.
struct ChartCounts {
  std::uint64_t by_device = 0;
  std::uint64_t compared = 0;  // of those, compared with the CPU's
  std::uint64_t by_cpu = 0;
};

// Returns why the CPU must draw all charts of a kind, on any device; empty if it need not.
std::string cpu_only_reason(const ChartSpec& spec);
// Reason that is reported when kernels give up single charts.
inline constexpr const char* kGivenUpReason =
    "charts of lines with gaps hardly wider than the line are drawn on the CPU";
// Number of charts per thread that the CPU draws at once in a device's place: enough to share them evenly.
// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr std::size_t kCpuChartsPerThread = 8;

// Draws charts of one kind; reuses its device memory from one call to the next. Used by one thread at a time.
class DeviceDrawer {
 public:
  // The arguments must outlive the object. The constructor reserves host memory in `budget` for `at_once` charts that
  // the CPU draws or compares (0: some per thread). It reserves fewer if there is no room, and throws OutOfMemory if
  // there is none for one.
  DeviceDrawer(const ChartSpec& spec, const Format& format, const Executor& executor, Accelerator& accelerator,
               Budget& budget, std::size_t at_once = 0);
  // Returns the host memory for one such chart.
  static std::uint64_t bytes_on_cpu(const ChartSpec& spec, const Format& format) {
    return 2 * format.image_bytes() + max_rows_bytes(spec);
  }
  ~DeviceDrawer();
  DeviceDrawer(const DeviceDrawer&) = delete;
  DeviceDrawer& operator=(const DeviceDrawer&) = delete;

  // Draws all charts. The CPU replaces a device that cannot draw a chart or drew it wrong. Throws Failure(usage) if an
  // array is not in the device's memory, DeviceLost if one is and the device is lost.
  void draw(const SeriesArray& series, bool series_on_device, const ImageArray& images);
  const ChartCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::chart
