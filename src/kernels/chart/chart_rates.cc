#include "src/kernels/chart/chart_rates.h"

#include <algorithm>
#include <optional>

#include "src/base/stopwatch.h"
#include "src/device/queue.h"
#include "src/kernels/chart/chart_device.h"
#include "src/kernels/chart/chart_streams.h"
#include "src/kernels/chart/chart_test_vectors.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {

ChartSpec typical_spec(Style style) {
  ChartSpec out{style, false, false, 800, 500, 3, 100, 0};
  if (style == Style::ohlc) out.width = 400;
  if (style == Style::jkx) out = {style, false, true, 60, 64, 3, 20, 20};
  return out;
}

namespace {

ChartTestVector usual_charts(const ChartSpec& spec, std::size_t count) {
  ChartTestVector out{spec, PixelKind::bytes, count, spec.history(), {}};
  out.series = make_series(count, spec.rows + out.before, price_columns_of(spec).size(), 5);
  return out;
}

// Returns charts per second if draw() draws `count`; 0 if there is a device and it took no part.
template <typename Draw>
double rate_of(std::size_t count, const Accelerator* accelerator, const Draw& draw) {
  constexpr double kEnoughS = 0.25;
  draw();  // warm-up: creates what is reused
  const std::uint64_t batches = accelerator != nullptr ? accelerator->counts().batches : 0;
  const Stopwatch watch;
  std::size_t drawn = 0;
  while (watch.seconds() < kEnoughS) {
    draw();
    drawn += count;
  }
  const double seconds = watch.seconds();
  if (accelerator != nullptr && (accelerator->is_excluded() || accelerator->counts().batches == batches)) return 0;
  return static_cast<double>(drawn) / seconds;
}

}  // namespace

double measure_charts_per_second(const ChartSpec& spec, std::size_t count, const Executor& executor,
                                 Accelerator* accelerator) {
  const ChartTestVector charts = usual_charts(spec, count);
  const Format format = test_vector_format(charts);
  const std::size_t image = format.image_bytes();
  std::vector<std::uint8_t> host;
  Budget budget(1_GiB);
  std::optional<DeviceDrawer> drawer;
  DeviceBuffer<std::uint8_t> there;
  const SeriesPainters painters(spec, format);
  if (accelerator != nullptr) {
    drawer.emplace(spec, format, executor, *accelerator, budget);
    if (accelerator->device().kind == DeviceKind::cuda) there = {*accelerator, count * image, "images"};
  }
  const bool on_device = there.size() > 0;
  if (!on_device) host.resize(count * image);
  return rate_of(count, accelerator, [&] {
    if (drawer) {
      void* data = on_device ? reinterpret_cast<void*>(there.memory()->handle) : host.data();
      drawer->draw(charts.array(), false, {data, on_device});
    } else {
      painters.paint(charts.array(), executor, host.data());
    }
  });
}

double measure_streams_per_second(const ChartSpec& spec, std::size_t count, const Executor& executor,
                                  Accelerator* accelerator) {
  const ChartTestVector charts = usual_charts(spec, count);
  const Format format = test_vector_format(charts);
  const SeriesPainters painters(spec, format);
  const rle_deflate::StreamLayout layout{format.pixels, false, rle_deflate::Wrapper::zlib};
  rle_deflate::SymbolHistogram histogram;
  painters.each({charts.series.data(), false, std::min<std::size_t>(count, 16), charts.before}, Executor(1),
                [&](std::size_t, const rle::Image& picture) { histogram.count(picture, layout); });
  const rle_deflate::DeflateCode code(histogram, layout);
  Budget budget(1_GiB);
  std::optional<DeviceStreamer> streamer;
  if (accelerator != nullptr) streamer.emplace(spec, format, code, executor, *accelerator, budget);
  return rate_of(count, accelerator, [&] {
    if (streamer) return streamer->draw(charts.array(), [](std::span<const std::uint8_t>) {});
    painters.each(charts.array(), executor, [&](std::size_t, const rle::Image& picture) {
      Buffer<std::uint8_t> memory;
      code.compress(picture, memory);
    });
  });
}

std::vector<MeasuredRate> measure_stream_rates(Accelerator& accelerator, const Executor& executor) {
  constexpr std::size_t kCharts = 256;
  const ChartSpec spec = typical_spec(Style::line);
  const double device = measure_streams_per_second(spec, kCharts, executor, &accelerator);
  if (device == 0) return {};
  return {{"deflate.charts", "charts/s", device, measure_streams_per_second(spec, kCharts, executor, nullptr)}};
}

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor) {
  std::vector<MeasuredRate> out;
  constexpr std::size_t kCharts = 256;
  for (const auto& [style, name] : {std::pair{Style::line, "chart.line"}, std::pair{Style::candle, "chart.candle"}}) {
    const ChartSpec spec = typical_spec(style);
    const double device = measure_charts_per_second(spec, kCharts, executor, &accelerator);
    if (device > 0)
      out.push_back({name, "charts/s", device, measure_charts_per_second(spec, kCharts, executor, nullptr)});
  }
  return out;
}

}  // namespace millrace::chart
