#include "src/jobs/render/draw/device_charts.h"

#include <algorithm>

#include "src/kernels/chart/chart_entries.h"
#include "src/kernels/chart/chart_rates.h"
#include "src/kernels/rle_deflate/deflate_entries.h"

namespace millrace::render {
namespace {

// What the one writer takes: 86,000 charts a second, of 3.8 kB each (docs/performance.md). Where the CPU draws as fast
// as that, a device gains nothing.
constexpr double kWrittenBytesS = 330e6;

std::uint64_t series_bytes(const Options& options, const ChartPlan& plan) {
  return (plan.window + options.spec().history()) * plan.layout.columns * sizeof(double);
}

}  // namespace

void Windows::clear() {
  series.clear();
  ends.clear();
  rows.clear();
}

void Windows::add(const ChartPlan& plan, const Options& options, std::uint64_t chart, WindowRenderer& renderer) {
  renderer.append_series(chart, series, ends);
  ChartRow& row = rows.emplace_back();
  renderer.sequence(row.sequence);
  fill_row(plan, options, chart, row);
}

DeviceCharts::DeviceCharts(const Options& options, const ChartPlan& plan, const Encoding& encoding, RunContext& context)
    : spec_([&] {
        chart::Spec spec = options.spec();
        spec.rows = plan.window;
        return spec;
      }()),
      format_(encoding.format()),
      context_(context),
      global_(options.scale == Scaling::global) {
  if (encoding.code() != nullptr) {
    streams_ = std::make_unique<chart::DeviceStreamer>(spec_, format_, *encoding.code(), context.executor,
                                                       *context.accelerator, context.budget);
  } else {
    drawer_ =
        std::make_unique<chart::DeviceDrawer>(spec_, format_, context.executor, *context.accelerator, context.budget);
  }
}

void DeviceCharts::make(const Windows& windows, const std::function<void(std::span<const std::uint8_t>)>& keep) {
  const chart::SeriesArray series{windows.series.data(), false, windows.rows.size(), spec_.history(),
                                  global_ ? windows.ends.data() : nullptr};
  if (streams_) return streams_->draw(series, keep);
  const std::size_t image = format_.image_bytes();
  images_.resize(series.count * image);
  drawer_->draw(series, false, {images_.data(), false});
  for (std::size_t i = 0; i < series.count; ++i) keep(std::span(images_).subspan(i * image, image));
}

std::uint64_t DeviceCharts::bytes_each(const Options& options, const ChartPlan& plan, const Encoding& encoding) {
  // Streams, or pixels, are there once more before they are wrapped.
  return 2 * encoding.most_bytes() + series_bytes(options, plan);
}

Route route_of(const Options& options, const ChartPlan& plan, const Encoding& encoding, const ChartCost& cost,
               std::uint64_t charts, const RunContext& context) {
  const Accelerator& accelerator = *context.accelerator;
  const chart::Spec usual = chart::usual_spec(options.style == Style::line ? Style::line : Style::candle);
  const auto count = static_cast<double>(charts), bytes = static_cast<double>(cost.bytes);
  Work work;
  const bool streams = encoding.code() != nullptr;
  work.source = streams ? &bodies::deflate() : &bodies::chart();
  work.operation = streams ? "deflate.charts" : options.style == Style::line ? "chart.line" : "chart.candle";
  // In charts as large as those that were measured.
  work.amount = count * static_cast<double>(options.width) * static_cast<double>(options.height) /
                (static_cast<double>(usual.width) * usual.height);
  work.bytes_up = count * static_cast<double>(series_bytes(options, plan));
  work.bytes_down = count * bytes;
  work.cpu_s = count * cost.seconds / context.executor.threads();
  work.others_s = count * bytes / kWrittenBytesS;
  Route route = choose_side(accelerator, work);
  chart::Spec spec = options.spec();
  spec.rows = plan.window;
  const std::string why = chart::why_on_cpu(spec);
  if (route.on_device && !why.empty()) route = {false, std::nullopt, "on the CPU: " + why};
  if (route.on_device && !accelerator.may_use(bodies::chart())) {
    route = {false, std::nullopt, "on the CPU: nobody has attested the kernels that draw"};
  }
  return route;
}

}  // namespace millrace::render
