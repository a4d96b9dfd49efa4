// Benchmark: draws charts into memory, in distinct batches of 205 MB. It prints charts per second and, as an upper
// bound, the rate at which the memory itself takes as many bytes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "include/millrace/render.h"
#include "src/device/cpu/executor.h"

int main() {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  constexpr std::size_t kCharts = 512, kRows = 100, kBatches = 8;
  millrace::ChartOptions options;
  options.threads = 2;
  const millrace::ChartDrawer drawer(options);
  const auto pixels = static_cast<std::size_t>(drawer.width()) * static_cast<std::size_t>(drawer.height());
  std::mt19937 random(1);
  std::normal_distribution<double> step(0, 0.012);
  std::vector<double> series(kBatches * kCharts * kRows);
  double level = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    level = i % kRows == 0 ? 0 : level + step(random);
    series[i] = std::exp(level);
  }
  std::vector<std::uint8_t> images(kCharts * pixels);
  const millrace::Executor executor(2);
  std::vector<double> drawing, filling;
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    auto begin = Clock::now();
    drawer.draw(millrace::view_of(series.data() + batch * kCharts * kRows, {kCharts, kRows}),
                millrace::view_of(images.data(), {kCharts, drawer.height(), drawer.width()}));
    drawing.push_back(since(begin));
    begin = Clock::now();
    executor.parallel_for(kCharts, 4, [&](std::size_t from, std::size_t to) {
      std::memset(images.data() + from * pixels, static_cast<int>(batch), (to - from) * pixels);
    });
    filling.push_back(since(begin));
  }
  const auto median = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  const double draw = median(drawing), fill = median(filling);
  fmt::print("into memory: {:.0f} charts/s of 800 x 500, {:.2f} GB/s; filling alone {:.2f} GB/s: {:.0f} % of it\n",
             kCharts / draw, static_cast<double>(images.size()) / draw / 1e9,
             static_cast<double>(images.size()) / fill / 1e9, 100 * fill / draw);
}
