// Cost of cutting and blending a window of 512 x 512, beside the network's own time. The photograph has 3504 x 2336
// pixels, and there is one class. Memory to move for cutting: 0.8 MB of pixels in and 3.1 MB of floats out. For adding:
// 1 MB of results and twice 1 MB of sums.

#include <benchmark/benchmark.h>

#include <numeric>

#include "src/kernels/sliding_window/sliding_window.h"

namespace millrace::window {
namespace {

constexpr std::int64_t kHeight = 2336, kWidth = 3504, kWindow = 512;

struct Photograph {
  WindowAxis y{kHeight, kWindow, 0.5}, x{kWidth, kWindow, 0.5};
  std::vector<std::uint8_t> band = std::vector<std::uint8_t>(kWindow * kWidth * 3);
  std::vector<const std::uint8_t*> rows;
  std::vector<LevelTable> levels = std::vector<LevelTable>(3);
  std::vector<float> window = std::vector<float>(3 * kWindow * kWindow), row = std::vector<float>(kWidth);

  Photograph() {
    for (std::size_t k = 0; k < band.size(); ++k) band[k] = static_cast<std::uint8_t>(k * 7919 >> 5);
    for (std::int64_t r = 0; r < kWindow; ++r) rows.push_back(band.data() + r * kWidth * 3);
    for (LevelTable& each : levels) std::iota(each.of.begin(), each.of.end(), 0.0F);
  }
};

void cut(benchmark::State& state) {
  Photograph of;
  constexpr std::size_t kOrder[] = {0, 1, 2};
  for (auto _ : state) {
    gather_window(of.y, of.x, 0, 3, Padding::reflect, of.rows, 0, 3, kOrder, of.levels, of.window.data());
    benchmark::DoNotOptimize(of.window.data());
  }
}

void add(benchmark::State& state) {
  Photograph of;
  WindowBlender blend(of.y, of.x, 1, Importance::gaussian);
  for (auto _ : state) blend.add(0, 3, of.window.data());
}

// Takes rows of as many pixels as a window brings: a quarter of its own.
void take(benchmark::State& state) {
  Photograph of;
  WindowBlender blend(of.y, of.x, 1, Importance::gaussian);
  for (std::size_t w = 0; w < of.x.starts().size(); ++w) blend.add(0, w, of.window.data());
  std::int64_t y = 0;
  for (auto _ : state) blend.take_row(y++ % 256, of.row.data());
  state.counters["a_window"] = benchmark::Counter(static_cast<double>(state.iterations()) * kWidth / (256.0 * 256.0),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void activate(benchmark::State& state) {
  Photograph of;
  for (std::size_t k = 0; k < of.row.size(); ++k) of.row[k] = static_cast<float>(k % 200) / 10 - 10;
  std::vector<float> values = of.row;
  const std::vector<float> weights(values.size(), 1.0F);
  std::vector<std::uint8_t> labels(values.size());
  for (auto _ : state) {
    values = of.row;
    sigmoid(values);
    label(values, weights, 0.5F, labels);
    benchmark::DoNotOptimize(values.data());
    benchmark::DoNotOptimize(labels.data());
  }
  state.counters["a_window"] = benchmark::Counter(static_cast<double>(state.iterations()) * kWidth / (256.0 * 256.0),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(cut)->Unit(benchmark::kMillisecond);
BENCHMARK(add)->Unit(benchmark::kMillisecond);
BENCHMARK(take)->Unit(benchmark::kMicrosecond);
BENCHMARK(activate)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace millrace::window

BENCHMARK_MAIN();
