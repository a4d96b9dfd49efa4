// Enters: windows of a batch of charts.
// Leaves: what stores keep of them, before it is wrapped: streams or pixels, made on the run's device.
// Never: writes. What the device cannot do, or did wrong, the CPU does.
#pragma once

#include <functional>
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
  // One thread's renderer.
  void add(const ChartPlan& plan, const Options& options, std::uint64_t chart, WindowRenderer& renderer);
};

// One thread at a time.
class DeviceCharts {
 public:
  // All outlive it; the context has an accelerator.
  DeviceCharts(const Options& options, const ChartPlan& plan, const Encoding& encoding, RunContext& context);
  // The bodies of all, in their order.
  void make(const Windows& windows, const std::function<void(std::span<const std::uint8_t>)>& keep);

  // What a chart takes of the host's memory on its way there and back.
  static std::uint64_t bytes_each(const Options& options, const ChartPlan& plan, const Encoding& encoding);

 private:
  const chart::Spec spec_;
  const Format& format_;
  RunContext& context_;
  const bool global_;
  std::unique_ptr<chart::DeviceStreamer> streams_;  // or
  std::unique_ptr<chart::DeviceDrawer> drawer_;
  std::vector<std::uint8_t> images_;
};

// What the CPU takes for a chart, and what comes of it.
struct ChartCost {
  double seconds = 0;  // of one thread
  std::uint64_t bytes = 0;
};

// Which side makes so many charts.
Route route_of(const Options& options, const ChartPlan& plan, const Encoding& encoding, const ChartCost& cost,
               std::uint64_t charts, const RunContext& context);

}  // namespace millrace::render
