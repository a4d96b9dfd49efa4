// Input: series in the host's memory, and the code that charts of a kind are written in.
// Output: the charts' streams, drawn and compressed on a device: byte for byte those of rle_deflate.h, of pictures that
//   series_painter.h draws.
// Never: hands on a batch of which no stream was compared with the CPU's, unless --verify-device none said so.
//
// On the device, beside what chart_device.h says: a byte a pixel, and about 60 a row of pixels.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/chart/chart_device.h"
#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::chart {

using KeepStream = std::function<void(std::span<const std::uint8_t> stream)>;

// Draws charts of one kind; holds what it needs on the device from one call to the next. One thread at a time.
class DeviceStreamer {
 public:
  // All outlive it; the budget pays for what it holds on the host: from the start for `at_once` charts that the CPU
  // makes (0: some a thread), fewer where there is no room; OutOfMemory where there is none for one. The code is for
  // the format's pixels.
  DeviceStreamer(const Spec& spec, const Format& format, const rle_deflate::Code& code, const Executor& executor,
                 Accelerator& accelerator, Budget& budget, std::size_t at_once = 0);
  // What one of these takes, about.
  static std::uint64_t bytes_on_cpu(const Spec& spec, const Format& format);
  ~DeviceStreamer();
  DeviceStreamer(const DeviceStreamer&) = delete;
  DeviceStreamer& operator=(const DeviceStreamer&) = delete;

  // The stream of every chart, in their order. What the device cannot do, or did wrong, the CPU does.
  void draw(const SeriesArray& series, const KeepStream& keep);
  const DrawnCharts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::chart
