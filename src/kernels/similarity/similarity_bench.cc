// Lower bound: a comparison reads two Features (2 x 46 KiB, in L2 after the first) and is bound by arithmetic.
// Operations of its steps, a product and a sum counted as one:
//  - coarse search: 256 x 5 as it is and 256 x 9 for each of six scales;
//  - where these promise something, for each axis: 256 x 11 and 32 moves x 128;
//  - each step of registration at 32 x 32: 1024 x (44 + 30 of sampling);
//  - each step at 64 x 64, only in doubt: 4096 x (44 + 30).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {
namespace {

// Draws discs on a slope of colour, shifted and brightened as requested.
Thumbnail draw(std::uint32_t seed, float shift, float gain) {
  Thumbnail out;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      float value[3] = {80.0F + static_cast<float>(x), 60.0F + static_cast<float>(y), 90.0F};
      std::uint32_t state = seed;
      const auto next = [&] {
        state = state * 1664525U + 1013904223U;
        return static_cast<float>(state >> 8) * (1.0F / 16777216.0F);
      };
      for (int disc = 0; disc < 20; ++disc) {
        const float dx = static_cast<float>(x) - 64 * next() - shift, dy = static_cast<float>(y) - 64 * next();
        const float radius = 3 + 10 * next();
        for (float& v : value) {
          const float colour = 220 * next();
          const float inside = 6 * (1 - (dx * dx + dy * dy) / (radius * radius));
          const float part = inside < 0 ? 0.0F : (inside > 1 ? 1.0F : inside);
          v += part * (colour - v);
        }
      }
      for (int c = 0; c < 3; ++c) {
        const float v = value[c] * gain;
        out.data()[(y * kSide + x) * 3 + c] = static_cast<std::uint8_t>(v > 255 ? 255.0F : v);
      }
    }
  }
  return out;
}

void features(benchmark::State& state) {
  const Thumbnail pixels = draw(1, 0, 1);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(features_of(pixels));
}
BENCHMARK(features);

void orientation(benchmark::State& state) {
  const Thumbnail pixels = draw(1, 0, 1);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(oriented(pixels, Orientation::transposed));
}
BENCHMARK(orientation);

void coarse(benchmark::State& state, const Thumbnail& first, const Thumbnail& second) {
  const Features a = features_of(first), b = features_of(second);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(search_coarsely(a, b));
  state.SetLabel(std::to_string(search_coarsely(a, b).correlation));
}
BENCHMARK_CAPTURE(coarse, unlike, draw(1, 0, 1), draw(2, 0, 1));
BENCHMARK_CAPTURE(coarse, moved, draw(1, 0, 1), draw(1, 8, 1));

void registration(benchmark::State& state) {
  const Features a = features_of(draw(1, 0, 1)), b = features_of(draw(1, 2.5F, 1));
  const Frames frames(a, b);
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(register_luma<32>(a.soft, b.soft, frames, {}, false, 2));
}
BENCHMARK(registration);

void pair(benchmark::State& state, const Thumbnail& first, const Thumbnail& second) {
  const Features a = features_of(first), b = features_of(second);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(compare(a, b));
  state.SetLabel(name_of(compare(a, b).kind));
}
BENCHMARK_CAPTURE(pair, brightened, draw(1, 0, 1), draw(1, 0, 1.15F));
BENCHMARK_CAPTURE(pair, shifted, draw(1, 0, 1), draw(1, 2.5F, 1));
BENCHMARK_CAPTURE(pair, unlike, draw(1, 0, 1), draw(2, 0, 1));

}  // namespace
}  // namespace millrace::similarity

BENCHMARK_MAIN();
