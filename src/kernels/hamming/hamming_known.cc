#include "src/kernels/hamming/hamming_known.h"

#include <algorithm>
#include <vector>

#include "src/kernels/hamming/hamming_device.h"
#include "src/kernels/hamming/hamming_permute.h"
#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {
namespace {

// More than one block of threads and more than one tile; some pairs at every distance to beyond the radius.
constexpr std::size_t kCodes = 700;

template <typename Code>
std::vector<Code> make_codes() {
  // Knuth's 64-bit linear congruential generator.
  std::uint64_t state = 18;
  const auto next = [&state] { return state = state * 6364136223846793005U + 1442695040888963407U; };
  std::vector<Code> out(kCodes);
  for (std::size_t i = 0; i < kCodes; ++i) {
    Code& code = out[i];
    if (i % 4 != 3) {
      for (int w = 0; w < kWords64<Code>; ++w) set_word64(code, w, next() ^ next() >> 32);
      continue;
    }
    code = out[(next() >> 33) % i];
    for (std::size_t flip = 0; flip < i % 11; ++flip) {
      const auto bit = static_cast<int>(next() >> 40) % (64 * kWords64<Code>);
      set_word64(code, bit / 64, word64(code, bit / 64) ^ std::uint64_t{1} << (bit % 64));
    }
  }
  // Codes that are equal are one node.
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
bool right(Accelerator& accelerator, Algorithm algorithm) {
  std::vector<Code> codes = make_codes<Code>();
  const Executor executor(1);
  Budget budget(64_MiB);
  const Options options{.radius = 4, .algorithm = algorithm};
  const std::vector<Pair> truth = reference::row_pairs(std::span<const Code>(codes), options.radius);
  const Sides<Code> sides{codes, codes, true, nullptr};
  const JoinPlan plan = choose_plan(problem_of(sides, options, executor));
  if (plan.permuted) permute(std::span<const Code>(codes), codes.data(), plan, executor);
  PairCollector collector(budget);
  const auto answer = find_on_device(sides, plan, options, {executor, &accelerator}, budget, collector);
  if (!answer || answer->used != algorithm || accelerator.struck_out()) return false;
  const Pairs found = collector.sorted(codes.size(), codes.size(), executor);
  // Short of memory, the CPU has done some of it.
  return accelerator.counts().fell_back == 0 &&
         std::equal(truth.begin(), truth.end(), found.list.span().begin(), found.list.span().end());
}

}  // namespace

bool gives_known_answers(Accelerator& accelerator) {
  for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
    if (!right<std::uint64_t>(accelerator, algorithm) || !right<Code256>(accelerator, algorithm)) return false;
  }
  return true;
}

}  // namespace millrace::hamming
