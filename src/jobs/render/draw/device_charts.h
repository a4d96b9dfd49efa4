// Input: the windows of a batch of charts.
// Output: the bodies that stores keep, before they are wrapped: streams or pixels, made on the run's device.
// Never: writes. The CPU makes the bodies that the device cannot make, or made wrong.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/device/routing.h"
#include "src/jobs/render/encode/chart_encoder.h"
#include "src/jobs/render/plan.h"
#include "src/kernels/chart/chart_streams.h"

namespace millrace::render {

// Consecutive charts of one shard.
struct WindowBatch {
  std::vector<double> series, ends;  // in the layout of chart::SeriesArray
  std::vector<ChartRow> rows;

  void clear();
  void add(const ChartPlan& plan, const RenderOptions& options, std::uint64_t chart, WindowReader& reader);
};

// Bodies of these charts, one after the other.
struct ChartBodies {
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> ends;  // end of each body in `bytes`

  std::span<const std::uint8_t> of(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(bytes).subspan(begin, ends[i] - begin);
  }
};

// Division of a run's memory for such batches.
struct DeviceBatchSizes {
  std::uint64_t charts_per_batch = 0;  // charts in a batch; 0: there is no room for a batch
  std::uint64_t each = 0;              // bytes of a chart in flight, from its window to its row
  std::uint64_t working = 0;           // bytes besides these
  std::size_t at_once = 0;             // charts that the CPU makes at once in the device's place
};
DeviceBatchSizes choose_batch_sizes(const RenderOptions& options, const ChartPlan& plan, const ChartEncoding& encoding,
                                    const RunContext& context, Bytes max_in_flight);

// Makes bodies on a device. For one thread at a time.
class DeviceChartEncoder {
 public:
  // The arguments must outlive this object; the context has an accelerator. OutOfMemory if the portions do not fit.
  DeviceChartEncoder(const RenderOptions& options, const ChartPlan& plan, const ChartEncoding& encoding,
                     const DeviceBatchSizes& portions, RunContext& context);
  // Makes the bodies of all windows, in their order.
  void make(const WindowBatch& windows, ChartBodies& out);

 private:
  const chart::ChartSpec spec_;
  const Format& format_;
  const bool global_;
  Reservation reservation_;
  Budget own_;
  std::unique_ptr<chart::DeviceStreamer> streams_;  // exactly one of these two is set
  std::unique_ptr<chart::DeviceDrawer> drawer_;
};

// Time that the CPU needs for a chart, in seconds of one thread, and the size of the result.
struct ChartCost {
  double seconds = 0;
  double others_seconds = 0;  // share of `seconds` for work that a device leaves to the CPU
  std::uint64_t bytes = 0;
};

// Decides which side makes these charts, the CPU or the device.
Route choose_route(const RenderOptions& options, const ChartPlan& plan, const ChartEncoding& encoding,
                   const ChartCost& cost, std::uint64_t charts, const DeviceBatchSizes& portions,
                   const RunContext& context);

}  // namespace millrace::render
