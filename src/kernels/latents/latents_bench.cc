// Benchmark of measuring a latent of [16, 16, 60, 106], part by part. Floors: a latent is 3.26 MB as float16. The
// float32 lanes that the parts read from L2, a frame at a time, are 6.5 MB.
// Operations are of sixteen lanes each; a product and a sum count as one. There are 101,760 pixels per part. Pointwise
// takes 13 per pixel, products of channels 9, patches about 5. A row of the transform takes 1,560 for 106 pixels; a
// column of 60 takes about 660, for 30 columns.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "src/kernels/latents/latents_counts.h"
#include "src/kernels/latents/latents_finish.h"

namespace millrace::latents {
namespace {

constexpr LatentShape kShape{16, 16, 60, 106};

// Makes halves between 1/4 and 2 of both signs; neighbours are similar.
std::vector<std::uint16_t> make_halves(std::uint32_t seed) {
  std::vector<std::uint16_t> out(kShape.elements());
  std::uint32_t state = seed;
  for (std::size_t i = 0; i < out.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t random = state >> 16;
    out[i] = static_cast<std::uint16_t>((random & 0x81FFU) | 0x3400U | (i / 64 % 4) << 9);
  }
  return out;
}

ArrayView view(std::vector<std::uint16_t>& halves) {
  return {halves.data(),    kFloat16, {kShape.channels, kShape.frames, kShape.height, kShape.width}, {},
          MemoryKind::host, 0};
}

// Inputs of the parts.
struct Prepared {
  std::vector<std::uint16_t> halves = make_halves(1);
  LatentSource source = source_of(view(halves), kShape.elements());
  SpectrumPlan plan{kShape.height, kShape.width};
  Sums sums{kShape};
  TimeSums::Lanes lanes{kShape.frames};
  Buffer<float> plane, patch, spectrum, power;

  Prepared() {
    plane.resize(kShape.pixels() * kLanes);
    patch.resize(patch_scratch(kShape.height, kShape.width));
    spectrum.resize(plan.scratch_floats());
    power.resize(plan.bins() * kLanes);
    std::fill(power.begin(), power.end(), 0.0F);
    sums.image_power.resize(plan.image_bins());
    sums.clear();
    find_pilots(source, kShape, sums.pilots);
    turn(0);
  }
  void turn(int frame) { gather_plane(source, kShape, 0, frame, sums.pilots.data(), plane.data()); }
};

void whole(benchmark::State& state) {
  std::vector<std::uint16_t> halves = make_halves(1);
  Analyzer analyzer(kShape);
  Measures measures;
  for ([[maybe_unused]] auto _ : state) analyzer.measure(view(halves), measures);
}
BENCHMARK(whole)->Unit(benchmark::kMillisecond);

void time(benchmark::State& state) {
  Prepared at;
  for ([[maybe_unused]] auto _ : state) {
    find_pilots(at.source, kShape, at.sums.pilots);
    for (int c = 0; c < kShape.channels; ++c)
      sum_over_time(at.source, kShape, c, at.sums.pilots[static_cast<std::size_t>(c)], at.lanes,
                    at.sums.times[static_cast<std::size_t>(c)], at.sums.image.data(), nullptr);
  }
}
BENCHMARK(time)->Unit(benchmark::kMillisecond);

void turning(benchmark::State& state) {
  Prepared at;
  for ([[maybe_unused]] auto _ : state)
    for (int f = 0; f < kShape.frames; ++f) at.turn(f);
}
BENCHMARK(turning)->Unit(benchmark::kMillisecond);

template <typename Part>
void over_planes(benchmark::State& state, const Part& part) {
  Prepared at;
  for ([[maybe_unused]] auto _ : state)
    for (std::size_t f = 0; f < kShape.frames; ++f) part(at, f);
}
BENCHMARK_CAPTURE(over_planes, pointwise, [](Prepared& at, std::size_t f) {
  sum_plane(at.plane.data(), kShape.height, kShape.width, at.sums.planes[f]);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(over_planes, patches, [](Prepared& at, std::size_t f) {
  sum_patches(at.plane.data(), kShape.height, kShape.width, kLanes, at.patch.data(), at.sums.patches[f],
              at.sums.patch_counts);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(over_planes, products_of_channels, [](Prepared& at, std::size_t f) {
  add_products(at.plane.data(), at.plane.data(), kShape.height, kShape.width,
               at.sums.products.data() + f * kLanes * kLanes);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(over_planes, spectra, [](Prepared& at, std::size_t) {
  add_spectrum(at.plan, at.plane.data(), at.spectrum.data(), at.power.data());
})->Unit(benchmark::kMillisecond);

void image(benchmark::State& state) {
  Prepared at;
  Buffer<double> scratch;
  scratch.resize(at.plan.scratch_doubles());
  for ([[maybe_unused]] auto _ : state)
    image_spectrum(at.plan, at.sums.image.data(), scratch.data(), at.sums.image_power.data());
}
BENCHMARK(image)->Unit(benchmark::kMillisecond);

void densities(benchmark::State& state) {
  Prepared at;
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t plane = 0; plane < 4 * static_cast<std::size_t>(kShape.frames); ++plane) {
      const std::size_t begin = plane * kShape.pixels();
      const ValueRange range = find_range(at.source, begin, kShape.pixels());
      benchmark::DoNotOptimize(
          count_bins(at.source, begin, kShape.pixels(), Thresholds(even_edges(range.low, range.high))));
    }
  }
}
BENCHMARK(densities)->Unit(benchmark::kMillisecond);

// Counts pairs for one of the two sets of edges.
void mutual(benchmark::State& state) {
  Prepared at;
  PairCounter pairs;
  const CountLogs logs;
  std::array<std::vector<std::uint16_t>, 4> bins;
  for (auto& channel : bins) channel.resize(kShape.pixels());
  const Thresholds edges(even_edges(-2, 2));
  for ([[maybe_unused]] auto _ : state) {
    pairs.clear();
    for (std::size_t f = 0; f < kShape.frames; ++f) {
      for (std::size_t c = 0; c < 4; ++c)
        find_bins(at.source, (c * kShape.frames + f) * kShape.pixels(), kShape.pixels(), edges, bins[c].data());
      pairs.add({bins[0].data(), bins[1].data(), bins[2].data(), bins[3].data()}, kShape.pixels());
    }
    for (const auto& pair : pairs.pairs())
      benchmark::DoNotOptimize(mutual_information(pair, static_cast<double>(kShape.pixels() * kShape.frames), logs));
  }
}
BENCHMARK(mutual)->Unit(benchmark::kMillisecond);

void step_to_step(benchmark::State& state) {
  std::vector<std::uint16_t> now = make_halves(1), before = make_halves(2), previous = make_halves(3);
  const ArrayView third = view(previous);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(measure_step(view(now), view(before), &third));
}
BENCHMARK(step_to_step)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace::latents

BENCHMARK_MAIN();
