// statistics_bench [simulate[=TABLES]], at the level that MILLRACE_CPU names
//
// Times the work of a run of `latents`: 6 groups of 12 videos, 43 metrics at 20 steps, 10,000 permutations and
// replicates.
//   The floor of permutations: 15 pairs x 860 columns x 10,000 x 12 additions of doubles, 8 a vector: 0.19 G vectors.
//   The floor of separability: 72 x 73 / 2 x 102,036 products and sums, twice: 0.07 G vectors each; and 29 MB read.
// With `simulate`, it counts how often a table in which nothing differs has any familywise p <= 0.05. It also counts
// how often a metric that is moved in one group is found. Columns of a metric are AR(1) along its steps.
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "src/device/cpu/cpu_level.h"
#include "src/kernels/statistics/bootstrap.h"
#include "src/kernels/statistics/permute.h"
#include "src/kernels/statistics/separability.h"

namespace millrace::statistics {
namespace {

constexpr std::size_t kGroups = 6, kVideos = 12, kSteps = 20;

struct Videos {
  std::size_t columns;
  std::vector<double> values;
  std::vector<std::uint32_t> groups;
  SampleTable table() const { return {values, groups, columns, kGroups}; }
};

Videos videos(std::size_t metrics, std::uint64_t seed, double shift) {
  constexpr double kMemory = 0.9;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Videos out{metrics * kSteps, {}, {}};
  for (std::uint32_t v = 0; v < kGroups * kVideos; ++v) {
    out.groups.push_back(v / kVideos);
    for (std::size_t m = 0; m < metrics; ++m) {
      double state = normal(random);
      for (std::size_t step = 0; step < kSteps; ++step) {
        if (step > 0) state = kMemory * state + std::sqrt(1 - kMemory * kMemory) * normal(random);
        out.values.push_back(state + (v < kVideos && m == 0 ? shift : 0));
      }
    }
  }
  return out;
}

template <typename Work>
void time(const std::string& what, int times, const Work& work) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const std::clock_t before = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
  fmt::print("{}: {:.1f} ms of CPU\n", what, 1e3 * best);
}

void measure() {
  const Executor executor(1);
  const Videos own = videos(43, 1, 0);
  const std::vector<std::uint8_t> family(pairs_of(kGroups).size() * own.columns, 1);
  time("permutations", 3, [&] { permute(own.table(), family, 1, 10000, executor); });
  Videos holes = own;
  for (std::size_t i = 0; i < holes.values.size(); i += 101) holes.values[i] = std::nan("");
  time("permutations, every column with holes", 3, [&] { permute(holes.table(), family, 1, 10000, executor); });
  Videos uneven = own;
  uneven.groups[0] = 1;
  uneven.groups[70] = 2;
  time("permutations, groups of 11 to 13", 3, [&] { permute(uneven.table(), family, 1, 10000, executor); });
  time("bootstrap", 3, [&] { bootstrap(own.table(), 1, 10000, executor); });
  time("bootstrap, every column with holes", 3, [&] { bootstrap(holes.table(), 1, 10000, executor); });

  constexpr std::size_t kFeaturesOfLatent = 102036;
  std::mt19937 random(1);
  std::vector<float> features(kGroups * kVideos * kFeaturesOfLatent);
  for (float& value : features) value = static_cast<float>(random() >> 8) * 0x1p-24F;
  const auto separate = [&](std::uint32_t shuffles) {
    FeatureProducts products(own.groups.size());
    products.add(features, executor);
    separability(products, own.groups, 1, 0, shuffles, executor);
  };
  time("separability, a step, both variants", 5, [&] { separate(10000); });
  time("separability without permutations", 5, [&] { separate(0); });
}

// Wilson's interval of 95 %.
std::string share(int count, int of) {
  const double n = of, p = count / n, z2 = 1.96 * 1.96;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double reach = 1.96 * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  return fmt::format("{} of {}: {:.3f} [{:.3f}, {:.3f}]", count, of, p, middle - reach, middle + reach);
}

void simulate(int tables) {
  constexpr std::size_t kMetrics = 40;
  constexpr double kShifts[] = {1, 1.5, 2, 2.5};
  const Executor executor;
  const std::size_t columns = kMetrics * kSteps;
  const std::vector<std::uint8_t> family(pairs_of(kGroups).size() * columns, 1);
  // Returns the smallest familywise p of some pairs: of the moved metric, or of the others.
  const auto least = [&](const PermutationResult& p, std::size_t pairs_from, std::size_t pairs_to, bool moved) {
    double out = 1;
    for (std::size_t pair = pairs_from; pair < pairs_to; ++pair)
      for (std::size_t c = 0; c < columns; ++c)
        if ((c < kSteps) == moved) out = std::min(out, p.familywise[pair * columns + c]);
    return out;
  };
  const auto permuted = [&](std::uint64_t seed, double shift) {
    return permute(videos(kMetrics, seed, shift).table(), family, seed, 10000, executor);
  };
  int any = 0;
  for (int t = 0; t < tables; ++t) {
    const PermutationResult null = permuted(static_cast<std::uint64_t>(t), 0);
    any += std::min(least(null, 0, 15, true), least(null, 0, 15, false)) <= 0.05;
  }
  fmt::print("nothing differs, any familywise p <= 0.05: {}\n", share(any, tables));
  for (const double shift : kShifts) {
    int found = 0, beside = 0;
    for (int t = 0; t < tables; ++t) {
      const PermutationResult moved = permuted(static_cast<std::uint64_t>(t), shift);
      // The first five pairs are those of the group that was moved.
      found += least(moved, 0, 5, true) <= 0.05;
      beside += std::min(least(moved, 0, 15, false), least(moved, 5, 15, true)) <= 0.05;
    }
    fmt::print("a metric moved by {} deviations in one group, found in it: {}; anything else beside it: {}\n", shift,
               share(found, tables), share(beside, tables));
  }
}

}  // namespace
}  // namespace millrace::statistics

int main(int argc, char** argv) {
  millrace::use_cpu_level_from_environment();
  const std::string what = argc > 1 ? argv[1] : "";
  if (what.rfind("simulate", 0) == 0) {
    millrace::statistics::simulate(what.size() > 9 ? std::stoi(what.substr(9)) : 200);
  } else {
    millrace::statistics::measure();
  }
}
