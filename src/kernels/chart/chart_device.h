// Input: series and room for images, each in the host's memory or in a device's.
// Output: the charts of the series in the images, drawn on the device: byte for byte those of series_painter.h.
// Never: returns with a batch of which no chart was compared with the CPU's, unless --verify-device none said so.
//
// On the device, beside series and images: about 130 KB a chart of lines of 100 rows, of a batch at a time; twice that
// with a moving average.
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

struct Images {
  void* data = nullptr;
  bool on_device = false;  // in memory of the accelerator's device
};

// Charts so far.
struct DrawnCharts {
  std::uint64_t by_device = 0;
  std::uint64_t compared = 0;  // of them, with the CPU's
  std::uint64_t by_cpu = 0;
};

// Why charts of a kind are the CPU's, whatever device there is; empty where they are not.
std::string why_on_cpu(const Spec& spec);
// And why kernels give up some.
inline constexpr const char* kWhyGivenUp =
    "lines with gaps that are hardly wider than the line are the CPU's, chart by chart";
// Charts that the CPU makes at once in a device's place, for each thread: enough to share them evenly.
inline constexpr std::size_t kOnCpuEach = 8;

// Draws charts of one kind; holds what it needs on the device from one call to the next. One thread at a time.
class DeviceDrawer {
 public:
  // All outlive it; the budget pays for what it holds on the host: from the start for `at_once` charts that the CPU
  // draws or compares (0: some a thread), fewer where there is no room; OutOfMemory where there is none for one.
  DeviceDrawer(const Spec& spec, const Format& format, const Executor& executor, Accelerator& accelerator,
               Budget& budget, std::size_t at_once = 0);
  // What one of these takes.
  static std::uint64_t bytes_on_cpu(const Spec& spec, const Format& format) {
    return 2 * format.image_bytes() + most_rows_bytes(spec);
  }
  ~DeviceDrawer();
  DeviceDrawer(const DeviceDrawer&) = delete;
  DeviceDrawer& operator=(const DeviceDrawer&) = delete;

  // All charts. What the device cannot do, or did wrong, the CPU does. Failure(usage) where an array is not in the
  // device's memory; DeviceLost where one is, and the device is gone.
  void draw(const SeriesArray& series, bool series_on_device, const Images& images);
  const DrawnCharts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::chart
