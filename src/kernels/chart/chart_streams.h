// Input: series in host memory, and the code in which charts of a kind are compressed.
// Output: the charts' streams, drawn and compressed on a device. They are byte for byte those of rle_deflate.h for the
// images of series_painter.h.
// Never: delivers a batch of which no stream was compared with the CPU's, except with --verify-device none.
//
// On the device it needs, besides the memory described in chart_device.h, one byte per pixel, and about 60 per row of
// pixels.
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

using StreamSink = std::function<void(std::span<const std::uint8_t> stream)>;

// Draws charts of one kind; reuses its device memory from one call to the next. Used by one thread at a time.
class DeviceStreamer {
 public:
  // The arguments must outlive the object. The constructor reserves host memory in `budget` for `at_once` charts that
  // the CPU makes (0: some per thread). It reserves fewer if there is no room, and throws OutOfMemory if there is none
  // for one. The code must be for the format's pixels.
  DeviceStreamer(const ChartSpec& spec, const Format& format, const rle_deflate::DeflateCode& code,
                 const Executor& executor, Accelerator& accelerator, Budget& budget, std::size_t at_once = 0);
  // Returns the approximate host memory for one such chart.
  static std::uint64_t bytes_on_cpu(const ChartSpec& spec, const Format& format);
  ~DeviceStreamer();
  DeviceStreamer(const DeviceStreamer&) = delete;
  DeviceStreamer& operator=(const DeviceStreamer&) = delete;

  // Passes the stream of every chart to `keep`, in order. The CPU replaces a device that cannot make a stream or made
  // it wrong.
  void draw(const SeriesArray& series, const StreamSink& keep);
  const ChartCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::chart
