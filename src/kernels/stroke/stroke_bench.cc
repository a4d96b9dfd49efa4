// Lower bound: about 2,650 runs, of which 2,080 are rows that only one leg crosses, and 2,000 pieces of edges in 570
// rows of joints. All of it fits in the cache, so arithmetic and mispredicted branches are the limit.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "src/kernels/stroke/stroke.h"

namespace millrace::stroke {
namespace {

constexpr int kWidth = 800, kHeight = 500;
constexpr std::size_t kPictures = 64;

// Returns windows of a random walk as charts of 800 x 500, or noise.
std::vector<std::vector<StrokePoint>> windows(std::size_t n, bool noise) {
  std::mt19937 random(1);
  std::normal_distribution<double> step;
  std::vector<std::vector<StrokePoint>> out;
  for (std::size_t w = 0; w < kPictures; ++w) {
    std::vector<double> values(n);
    double level = 0;
    for (double& v : values) v = level = noise ? step(random) : level + step(random);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double bottom = *low, range = *high - *low;
    std::vector<StrokePoint> points;
    for (std::size_t i = 0; i < n; ++i) {
      points.push_back({static_cast<double>(i) * (kWidth - 1) / static_cast<double>(n - 1),
                        (1 - (values[i] - bottom) / range) * (kHeight - 1)});
    }
    out.push_back(points);
  }
  return out;
}

void draw(benchmark::State& state, std::size_t n, bool noise) {
  const auto all = windows(n, noise);
  Rasterizer rasterizer(kWidth, kHeight, 3);
  rle::Image picture;
  std::size_t at = 0;
  for (auto _ : state) {
    rasterizer.line(all[at++ % kPictures]);
    rasterizer.finish(picture);
    benchmark::DoNotOptimize(picture.row(0));
  }
}
BENCHMARK_CAPTURE(draw, walk_of_100, 100, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(draw, noise_of_100, 100, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(draw, walk_of_1000, 1000, false)->Unit(benchmark::kMicrosecond);

void draw_and_paint(benchmark::State& state) {
  const auto all = windows(100, false);
  Rasterizer rasterizer(kWidth, kHeight, 3);
  rle::Image picture;
  const rle::GrayTable grays = rle::gray_table(255, 0);
  std::vector<std::uint8_t> out(std::size_t{kWidth} * kHeight * kPictures);
  std::size_t at = 0;
  for (auto _ : state) {
    rasterizer.line(all[at % kPictures]);
    rasterizer.finish(picture);
    rle::paint(picture, grays, out.data() + std::size_t{kWidth} * kHeight * (at++ % kPictures));
  }
}
BENCHMARK(draw_and_paint)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace millrace::stroke

BENCHMARK_MAIN();
