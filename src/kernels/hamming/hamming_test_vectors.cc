#include "src/kernels/hamming/hamming_test_vectors.h"

#include <algorithm>
#include <vector>

#include "src/kernels/hamming/hamming_device.h"
#include "src/kernels/hamming/hamming_words.h"
#include "src/kernels/test_vectors/inputs.h"

namespace millrace::hamming {
namespace {

// Number of codes: more than one block of threads, and more than one tile of either side. Some pairs have every
// distance to beyond the radii.
template <typename Code>
constexpr std::size_t kCodes = sizeof(Code) == 8 ? 1300 : 600;

template <typename Code>
std::vector<Code> make_codes(std::size_t count, std::uint64_t seed) {
  std::vector<Code> out = test_vectors::random_codes<Code>(count, seed);
  test_vectors::Random random(seed + 1);
  // A quarter of the codes are near another one.
  for (std::size_t i = 3; i < out.size(); i += 4) {
    Code& code = out[i];
    code = out[random.next() % i];
    for (std::size_t flip = 0; flip < i % 11; ++flip) {
      const int bit = random.below(64 * kWords64<Code>);
      set_word64(code, bit / 64, word64(code, bit / 64) ^ std::uint64_t{1} << (bit % 64));
    }
  }
  // Equal codes would be one node.
  std::sort(out.begin(), out.end(), [](const Code& x, const Code& y) {
    for (int w = 0; w < kWords64<Code>; ++w) {
      if (word64(x, w) != word64(y, w)) return word64(x, w) < word64(y, w);
    }
    return false;
  });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

template <typename Code>
bool right(Accelerator& accelerator, Algorithm algorithm, int radius, bool self) {
  const std::vector<Code> codes = make_codes<Code>(kCodes<Code>, 18);
  const Executor executor(1);
  Budget budget(64_MiB);
  const Options options{.radius = radius, .algorithm = algorithm};
  const std::span<const Code> all(codes), queries = self ? all : all.subspan(codes.size() / 3);
  const std::vector<HammingPair> truth =
      self ? reference::row_pairs(all, radius) : reference::search(queries, all, radius);
  JoinSides<Code> sides{queries, all, self, nullptr};
  const JoinPlan plan = choose_plan(make_problem(sides, options, executor));
  // Even codes need no permutation.
  if (plan.permuted || plan.algorithm != algorithm) return false;
  PairCollector collector(budget);
  const auto answer = find_on_device(sides, plan, options, {executor, &accelerator}, budget, collector);
  if (!answer || answer->used != algorithm || accelerator.is_excluded()) return false;
  const HammingPairs found = collector.sorted(queries.size(), all.size(), executor);
  // The CPU has done some of it where memory was short.
  return accelerator.counts().fell_back == 0 && std::ranges::equal(truth, found.list.span());
}

template <typename Code>
bool right(Accelerator& accelerator) {
  // Half of a code of 64 bits decides a pair for radii below 8.
  return right<Code>(accelerator, Algorithm::brute, 4, true) && right<Code>(accelerator, Algorithm::brute, 11, false) &&
         right<Code>(accelerator, Algorithm::index, 4, true) && right<Code>(accelerator, Algorithm::index, 4, false);
}

template <typename Code>
HammingPairs pairs_of(std::span<const Code> queries, std::span<const Code> codes, bool self, const Options& options,
                      const Engines& engines, Budget& budget) {
  PairCollector collector(budget);
  find_pairs<Code>({queries, codes, self, nullptr}, nullptr, options, engines, budget, collector);
  return collector.sorted(queries.size(), codes.size(), engines.executor);
}

template <typename Code>
bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, test_vectors::Random& random,
                     std::size_t count, int widest) {
  // An index suits small radii.
  constexpr int kNearest = 8;
  Budget budget(1_GiB);
  const std::vector<Code> codes = make_codes<Code>(count, random.next64());
  for (const bool self : {true, false}) {
    const std::span<const Code> all(codes), queries = self ? all : all.subspan(codes.size() / 3);
    for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
      const Options options{.radius = random.below(1 + (algorithm == Algorithm::brute ? widest : kNearest)),
                            .algorithm = algorithm};
      const std::uint64_t batches = accelerator.counts().batches;
      const HammingPairs found = pairs_of<Code>(queries, all, self, options, {executor, &accelerator}, budget);
      const HammingPairs truth = pairs_of<Code>(queries, all, self, options, Engines(executor), budget);
      if (accelerator.is_excluded() || accelerator.counts().batches == batches || accelerator.counts().fell_back > 0 ||
          !std::ranges::equal(truth.list.span(), found.list.span()))
        return false;
    }
  }
  return true;
}

}  // namespace

bool gives_known_answers(Accelerator& accelerator) {
  return right<std::uint64_t>(accelerator) && right<Code256>(accelerator);
}

bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round) {
  test_vectors::Random random = test_vectors::make_random(round);
  const auto count = [&] {
    return 300 + static_cast<std::size_t>(random.below(2000 * test_vectors::round_size(round)));
  };
  // Radii at which few codes have a pair by chance.
  return agrees_with_cpu<std::uint64_t>(accelerator, executor, random, count(), 15) &&
         agrees_with_cpu<Code256>(accelerator, executor, random, count(), 85);
}

}  // namespace millrace::hamming
