#include "src/kernels/chart/chart_rates.h"

#include <chrono>
#include <optional>

#include "src/device/queue.h"
#include "src/kernels/chart/chart_device.h"
#include "src/kernels/chart/chart_known.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {

Spec usual_spec(Style style) {
  Spec out{style, false, false, 800, 500, 3, 100, 0};
  if (style == Style::ohlc) out.width = 400;
  if (style == Style::jkx) out = {style, false, true, 60, 64, 3, 20, 20};
  return out;
}

double charts_a_second(const Spec& spec, std::size_t count, const Executor& executor, Accelerator* accelerator) {
  using Clock = std::chrono::steady_clock;
  constexpr double kEnoughS = 0.25;
  KnownCharts charts{spec, PixelKind::bytes, count, spec.history(), {}};
  charts.series = make_series(count, spec.rows + charts.before, roles_of(spec).size(), 5);
  const Format format = known_format(charts);
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
  const auto draw = [&] {
    if (drawer) {
      void* data = on_device ? reinterpret_cast<void*>(there.memory()->handle) : host.data();
      drawer->draw(charts.array(), false, {data, on_device});
    } else {
      painters.paint(charts.array(), executor, host.data());
    }
  };
  draw();  // what is made once
  const std::uint64_t batches = accelerator != nullptr ? accelerator->counts().batches : 0;
  const auto begin = Clock::now();
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::size_t drawn = 0;
  while (since() < kEnoughS) {
    draw();
    drawn += count;
  }
  const double seconds = since();
  if (accelerator != nullptr && (accelerator->struck_out() || accelerator->counts().batches == batches)) return 0;
  return static_cast<double>(drawn) / seconds;
}

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor) {
  std::vector<MeasuredRate> out;
  constexpr std::size_t kCharts = 256;
  for (const auto& [style, name] : {std::pair{Style::line, "chart.line"}, std::pair{Style::candle, "chart.candle"}}) {
    const Spec spec = usual_spec(style);
    const double device = charts_a_second(spec, kCharts, executor, &accelerator);
    if (device > 0) out.push_back({name, "charts/s", device, charts_a_second(spec, kCharts, executor, nullptr)});
  }
  return out;
}

}  // namespace millrace::chart
