#include "src/jobs/render/draw/device_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/kernels/chart/chart_entries.h"
#include "src/kernels/chart/chart_rates.h"
#include "src/kernels/rle_deflate/deflate_entries.h"

namespace millrace::render {
namespace {

// Charts per second that the one writer of an HDF5 file takes (docs/performance.md). If the CPU draws as fast as that,
// a device gains nothing.
constexpr double kWrittenChartsPerSecond = 86000;

chart::ChartSpec spec_of(const RenderOptions& options, const ChartPlan& plan) {
  chart::ChartSpec out = options.spec();
  out.rows = plan.window;
  return out;
}

// Returns the memory for a body that the CPU makes if the device does not.
std::uint64_t bytes_on_cpu(const chart::ChartSpec& spec, const ChartEncoding& encoding) {
  return encoding.code() != nullptr ? chart::DeviceStreamer::bytes_on_cpu(spec, encoding.format())
                                    : chart::DeviceDrawer::bytes_on_cpu(spec, encoding.format());
}

}  // namespace

void WindowBatch::clear() {
  series.clear();
  ends.clear();
  rows.clear();
}

void WindowBatch::add(const ChartPlan& plan, const RenderOptions& options, std::uint64_t chart, WindowReader& reader) {
  reader.read(chart);
  reader.append_series(series, ends);
  ChartRow& row = rows.emplace_back();
  reader.sequence(row.sequence);
  fill_row(plan, options, chart, row);
}

DeviceBatchSizes choose_batch_sizes(const RenderOptions& options, const ChartPlan& plan, const ChartEncoding& encoding,
                                    const RunContext& context, Bytes max_in_flight) {
  // Maximum number of charts that a device takes at once. Three batches are in flight if there is room.
  constexpr std::uint64_t kMaxBatchCharts = 2048, kBatchesInFlight = 3, kMaxCpuBytes = 32 << 20;
  const chart::ChartSpec spec = spec_of(options, plan);
  const std::uint64_t most = encoding.max_bytes(), one = bytes_on_cpu(spec, encoding);
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  // Memory for drawing on the CPU is reserved first.
  const std::uint64_t drawing = (style_workspace(spec) * threads).host.count,
                      all = context.budget.largest_grant().count;
  const std::uint64_t room = all > drawing ? all - drawing : 0;
  DeviceBatchSizes out;
  out.at_once = std::clamp<std::uint64_t>(kMaxCpuBytes / one, 1, 8 * threads);
  // A body is in memory twice while it is wrapped.
  out.each = 2 * most + chart::max_rows_bytes(spec);
  for (std::uint64_t charts_per_batch = kMaxBatchCharts; charts_per_batch > 0; charts_per_batch /= 2) {
    const std::uint64_t ways = charts_per_batch > 1 ? kBatchesInFlight : 1;
    out.working = out.at_once * one + (encoding.code() != nullptr ? charts_per_batch * most : 0);
    if (ways * charts_per_batch * out.each > max_in_flight.count ||
        out.working + ways * charts_per_batch * out.each > room)
      continue;
    out.charts_per_batch = charts_per_batch;
    break;
  }
  return out;
}

DeviceChartEncoder::DeviceChartEncoder(const RenderOptions& options, const ChartPlan& plan,
                                       const ChartEncoding& encoding, const DeviceBatchSizes& portions,
                                       RunContext& context)
    : spec_(spec_of(options, plan)),
      format_(encoding.format()),
      global_(options.scale == PriceScaling::global),
      reservation_(context.budget.reserve({portions.working}, "charts on a device")),
      own_(Bytes{portions.working}) {
  if (encoding.code() != nullptr) {
    streams_ = std::make_unique<chart::DeviceStreamer>(spec_, format_, *encoding.code(), context.executor,
                                                       *context.accelerator, own_, portions.at_once);
  } else {
    drawer_ = std::make_unique<chart::DeviceDrawer>(spec_, format_, context.executor, *context.accelerator, own_,
                                                    portions.at_once);
  }
}

void DeviceChartEncoder::make(const WindowBatch& windows, ChartBodies& out) {
  const chart::SeriesArray series{windows.series.data(), false, windows.rows.size(), spec_.history(),
                                  global_ ? windows.ends.data() : nullptr};
  out.bytes.clear();
  out.ends.clear();
  if (streams_) {
    streams_->draw(series, [&](std::span<const std::uint8_t> stream) {
      out.bytes.insert(out.bytes.end(), stream.begin(), stream.end());
      out.ends.push_back(out.bytes.size());
    });
    return;
  }
  const std::size_t image = format_.image_bytes();
  out.bytes.resize(series.count * image);
  for (std::size_t i = 1; i <= series.count; ++i) out.ends.push_back(i * image);
  drawer_->draw(series, false, {out.bytes.data(), false});
}

Route choose_route(const RenderOptions& options, const ChartPlan& plan, const ChartEncoding& encoding,
                   const ChartCost& cost, std::uint64_t charts, const DeviceBatchSizes& portions,
                   const RunContext& context) {
  const Accelerator& accelerator = *context.accelerator;
  const chart::ChartSpec spec = spec_of(options, plan);
  const chart::ChartSpec usual = chart::typical_spec(options.style == Style::line ? Style::line : Style::candle);
  const auto count = static_cast<double>(charts);
  const double threads = context.executor.threads();
  DeviceWork work;
  const bool streams = encoding.code() != nullptr;
  work.source = streams ? &bodies::deflate() : &bodies::chart();
  work.operation = streams ? "deflate.charts" : options.style == Style::line ? "chart.line" : "chart.candle";
  // Amount of work, in charts of the size that was measured.
  work.amount = count * static_cast<double>(options.width) * static_cast<double>(options.height) /
                (static_cast<double>(usual.width) * usual.height);
  work.bytes_up = count * static_cast<double>(chart::max_rows_bytes(spec));
  work.bytes_down = count * static_cast<double>(cost.bytes);
  work.cpu_s = count * cost.seconds / threads;
  work.others_s = count * cost.others_seconds / threads;
  if (options.store == ChartStore::hdf5) work.others_s = std::max(work.others_s, count / kWrittenChartsPerSecond);
  Route route = choose_side(accelerator, work);
  if (!route.on_device) return route;
  const auto stays = [&](const std::string& why) {
    return Route{false, route.device_s, route.others_s, "on the CPU: " + why};
  };
  const std::string why = chart::cpu_only_reason(spec);
  if (!why.empty()) return stays(why);
  if (!accelerator.is_allowed(bodies::chart())) return stays("the drawing kernels are not attested on this hardware");
  if (portions.charts_per_batch == 0) {
    return stays(fmt::format("a memory limit of {} is too small for the device's batches",
                             format_bytes(context.budget.limit())));
  }
  return route;
}

}  // namespace millrace::render
