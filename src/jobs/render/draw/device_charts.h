// Input: windows of a batch of charts.
// Output: what stores keep of them, before it is wrapped: streams or pixels, made on the run's device.
// Never: writes. What the device cannot do, or did wrong, the CPU does.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/device/routing.h"
#include "src/jobs/render/encode/encode.h"
#include "src/jobs/render/plan.h"
#include "src/kernels/chart/chart_streams.h"

namespace millrace::render {

// Consecutive charts of one part.
struct Windows {
  std::vector<double> series, ends;  // as chart::SeriesArray has them
  std::vector<ChartRow> rows;

  void clear();
  void add(const ChartPlan& plan, const Options& options, std::uint64_t chart, WindowReader& reader);
};

// What is made of them, one after the other.
struct Bodies {
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> ends;  // where each ends

  std::span<const std::uint8_t> of(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(bytes).subspan(begin, ends[i] - begin);
  }
};

// What a run has of its memory for that.
struct DevicePortions {
  std::uint64_t together = 0;  // charts of a batch; 0: there is no room for one
  std::uint64_t each = 0;      // bytes of a chart on its way, from its window to its row
  std::uint64_t working = 0;   // bytes beside these
  std::size_t at_once = 0;     // charts that the CPU makes in the device's place
};
DevicePortions portions_of(const Options& options, const ChartPlan& plan, const Encoding& encoding,
                           const RunContext& context, Bytes most_in_flight);

// One thread at a time.
class DeviceCharts {
 public:
  // All outlive it; the context has an accelerator. OutOfMemory where the portions do not fit.
  DeviceCharts(const Options& options, const ChartPlan& plan, const Encoding& encoding, const DevicePortions& portions,
               RunContext& context);
  // The bodies of all, in their order.
  void make(const Windows& windows, Bodies& out);

 private:
  const chart::Spec spec_;
  const Format& format_;
  const bool global_;
  Reservation paid_;
  Budget own_;
  std::unique_ptr<chart::DeviceStreamer> streams_;  // or
  std::unique_ptr<chart::DeviceDrawer> drawer_;
};

// What the CPU takes for a chart, in seconds of one thread, and what comes of it.
struct ChartCost {
  double seconds = 0;
  double others_seconds = 0;  // of these, for what a device leaves to it
  std::uint64_t bytes = 0;
};

// Which side makes so many charts.
Route route_of(const Options& options, const ChartPlan& plan, const Encoding& encoding, const ChartCost& cost,
               std::uint64_t charts, const DevicePortions& portions, const RunContext& context);

}  // namespace millrace::render
