// Lower bound: a target of 512 x 384 has 0.2 million pixels. Operations for each, a product and a sum counted as one:
//  - registration, at 256 and below 11 steps, at the full size 3, each 44 + 30 of sampling: about 130;
//  - two rasters moved: 96;
//  - blurs of 3 to 31 taps each way of 26 planes: about 700;
//  - the rest: below 200.
// That is 0.2 billion a pair, some 10 ms of a core at two vectors of eight a cycle and half of that kept busy.
#include <benchmark/benchmark.h>

#include "src/kernels/detailed_check/detailed_check_scene_for_test.h"

namespace millrace::detailed_check {
namespace {

void compare_pair(benchmark::State& state, const SceneView& first, const SceneView& second) {
  const Scene scene(3);
  const PreparedPicture a(show(scene, first)), b(show(scene, second));
  DetailedComparator comparator;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(comparator.compare(a, b));
}
BENCHMARK_CAPTURE(compare_pair, small, {.width = 512, .height = 384}, {.width = 512, .height = 384, .noise = 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_pair, rasters, {.width = 1024, .height = 768}, {.width = 1024, .height = 768, .noise = 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_pair, crop, {.width = 1024, .height = 768},
                  {.width = 900, .height = 675, .left = 0.04F, .top = 0.03F, .right = 0.94F, .bottom = 0.705F})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace::detailed_check
BENCHMARK_MAIN();
