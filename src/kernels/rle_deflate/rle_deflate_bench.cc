// Lower bound: about 13 KB per chart are written, and 2 bytes of levels and runs are read for each of them. A Huffman
// code is a lookup and a shift, so arithmetic is the limit.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "src/kernels/rle_deflate/rle_deflate.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::rle_deflate {
namespace {

constexpr int kWidth = 800, kHeight = 500;
constexpr std::size_t kPoints = 100, kPictures = 64;

// Returns windows of a random walk as charts of 800 x 500.
std::vector<rle::Image> charts() {
  std::mt19937 random(1);
  std::normal_distribution<double> step;
  stroke::Rasterizer rasterizer(kWidth, kHeight, 3);
  std::vector<rle::Image> out(kPictures);
  for (rle::Image& picture : out) {
    std::vector<double> values(kPoints);
    double level = 0;
    for (double& v : values) v = level += step(random);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double bottom = *low, range = *high - *low;
    std::vector<stroke::StrokePoint> points;
    for (std::size_t i = 0; i < kPoints; ++i) {
      points.push_back(
          {static_cast<double>(i) * (kWidth - 1) / (kPoints - 1), (1 - (values[i] - bottom) / range) * (kHeight - 1)});
    }
    rasterizer.line(points);
    rasterizer.finish(picture);
  }
  return out;
}

void compress(benchmark::State& state, const StreamLayout& layout) {
  const std::vector<rle::Image> all = charts();
  SymbolHistogram histogram;
  for (const rle::Image& picture : all) histogram.count(picture, layout);
  const DeflateCode code(histogram, layout);
  Buffer<std::uint8_t> memory;
  std::size_t at = 0, bytes = 0;
  for (auto _ : state) bytes += code.compress(all[at++ % kPictures], memory).size();
  state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(at);
}
BENCHMARK_CAPTURE(compress, zlib, StreamLayout{})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(compress, png, StreamLayout{.row_prefix = true})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(compress, gzip, StreamLayout{.wrapper = Wrapper::gzip})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(compress, floats,
                  StreamLayout{.pixels = rle::encoded_levels(rle::colour_table({255, 255, 255}, {0, 0, 0}), 1,
                                                             rle::SampleDepth::floats)})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace millrace::rle_deflate

BENCHMARK_MAIN();
