// Cost of a fundus photograph once it is decoded: its field of view, the crop, the contrast. Memory to move: the part
// of the photograph that the crop covers, three bytes a pixel.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "src/kernels/fundus/crop.h"
#include "src/kernels/fundus/enhance.h"

namespace millrace::fundus {
namespace {

// A disc with some texture, clipped above and below.
std::vector<std::uint8_t> photograph_of(std::int32_t width, std::int32_t height) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, 3);
  const double radius = std::min(0.7 * height, 0.47 * width), x0 = 0.5 * width, y0 = 0.5 * height;
  for (std::int32_t y = 0; y < height; ++y)
    for (std::int32_t x = 0; x < width; ++x) {
      if ((x - x0) * (x - x0) + (y - y0) * (y - y0) > radius * radius) continue;
      const std::size_t k =
          (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 3;
      for (std::size_t c = 0; c < 3; ++c)
        out[k + c] = static_cast<std::uint8_t>(120 + (x * 7 + y * 13) % 40 - 30 * static_cast<int>(c));
    }
  return out;
}

void sides(benchmark::internal::Benchmark* bench) {
  bench->Args({3504, 2336, 1024})->Args({512, 512, 512})->Unit(benchmark::kMillisecond);
}

void field_of_view(benchmark::State& state) {
  const auto width = static_cast<std::int32_t>(state.range(0)), height = static_cast<std::int32_t>(state.range(1));
  const auto pixels = photograph_of(width, height);
  for (auto _ : state) benchmark::DoNotOptimize(find_field_bounds(Photograph{pixels.data(), width, height}.red()));
}
BENCHMARK(field_of_view)->Apply(sides);

void all_of_it(benchmark::State& state) {
  const auto width = static_cast<std::int32_t>(state.range(0)), height = static_cast<std::int32_t>(state.range(1)),
             side = static_cast<std::int32_t>(state.range(2));
  const auto pixels = photograph_of(width, height);
  const Photograph photograph{pixels.data(), width, height};
  for (auto _ : state) {
    const auto bounds = find_field_bounds(photograph.red());
    const FundusCrop how = make_crop(*bounds, side);
    const auto cropped = crop(photograph, how);
    benchmark::DoNotOptimize(enhance(cropped.data(), side, how.from_photograph(*bounds)));
  }
}
BENCHMARK(all_of_it)->Apply(sides);

}  // namespace
}  // namespace millrace::fundus

BENCHMARK_MAIN();
