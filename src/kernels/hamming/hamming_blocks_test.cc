// Tests blocks of a collection, each with itself and with those behind it, against the definition over all of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "src/kernels/hamming/hamming_blocks.h"
#include "src/kernels/hamming/hamming_cases_for_test.h"

namespace millrace::hamming {
namespace {

template <typename Code>
void expect_blocks(const Case<Code>& example, int radius, std::size_t block, Algorithm algorithm) {
  SCOPED_TRACE(example.name + ", radius " + std::to_string(radius) + ", blocks of " + std::to_string(block) + ", " +
               name_of(algorithm));
  const Executor executor(2);
  Budget budget(1_GiB);
  const Options options{radius, algorithm, {}};
  const std::span<const Code> codes(example.codes);
  std::vector<HammingPair> found;
  std::uint64_t counted = 0;
  {
    BlockPair<Code> blocks(executor, budget);
    const auto size_at = [&](std::size_t at) { return std::min(block, codes.size() - at); };
    const auto reading = [&](std::size_t at) {
      return [&codes, at](std::span<Code> rows) { std::copy_n(codes.data() + at, rows.size(), rows.data()); };
    };
    const auto expect_same = [&](std::size_t a, std::size_t b, const auto& join) {
      const std::size_t before = found.size();
      const BlockJoinResult joined = join([&](std::span<const HammingPair> pairs) {
        EXPECT_LE(pairs.size(), kBlock);
        for (const HammingPair& pair : pairs) {
          found.push_back(
              {static_cast<std::uint32_t>(pair.i + a), static_cast<std::uint32_t>(pair.j + b), pair.distance});
        }
      });
      ASSERT_EQ(found.size() - before, joined.pairs);
      ASSERT_TRUE(std::is_sorted(found.begin() + static_cast<std::ptrdiff_t>(before), found.end()));
      ASSERT_EQ(join(PairSink()).pairs, joined.pairs);
      counted += joined.pairs;
    };
    for (std::size_t a = 0; a < codes.size(); a += block) {
      blocks.set_first(size_at(a), reading(a));
      expect_same(a, a, [&](const PairSink& sink) { return blocks.join_first(options, sink); });
      for (std::size_t b = a + block; b < codes.size(); b += block) {
        blocks.set_second(size_at(b), reading(b));
        expect_same(a, b, [&](const PairSink& sink) { return blocks.join_both(options, sink); });
      }
    }
  }
  std::sort(found.begin(), found.end());
  ASSERT_EQ(found, reference::row_pairs(codes, radius));
  ASSERT_EQ(counted, found.size());
  ASSERT_EQ(budget.used().count, 0U);
}

template <typename Code>
void expect_all(std::initializer_list<int> radii) {
  for (const auto& example : cases<Code>()) {
    for (const int radius : radii) {
      for (const std::size_t block : {std::size_t{1}, std::size_t{5}, std::size_t{97}, std::size_t{300}}) {
        // Blocks of a single row, in hundreds of rows, need as many joins as there are pairs.
        if (example.codes.size() > 40 * block) continue;
        for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
          expect_blocks(example, radius, block, algorithm);
        }
      }
    }
  }
}

TEST(HammingBlocks, TogetherTheyEqualTheDefinition) {
  expect_all<std::uint64_t>({0, 1, 5, 24, 64});
  expect_all<Code256>({0, 31, 90, 256});
}

TEST(HammingBlocks, EqualCodesInBothBlocksGiveEveryPair) {
  const std::vector<std::uint64_t> rows(700, 0x1234);
  expect_blocks<std::uint64_t>({"one code", rows}, 3, 300, Algorithm::automatic);
}

TEST(HammingBlocks, TheCostHoldsWhatIsReserved) {
  Random random(5);
  std::vector<std::uint64_t> codes;
  for (int i = 0; i < 400'000; ++i) codes.push_back(random());
  // Nodes of several rows need counters, which take more memory than one row a node.
  for (int i = 0; i < 100; ++i) codes[random() % codes.size()] = codes[0];
  const Executor executor(2);
  const std::size_t block = codes.size() / 2;
  const BlockCost cost = block_cost(std::span<const std::uint64_t>(codes).first(4096), block, {5}, executor);
  Budget budget(cost.memory);
  BlockPair<std::uint64_t> blocks(executor, budget);
  for (int again = 0; again < 2; ++again) {
    const auto reading = [&](std::size_t at) {
      return [&codes, at](std::span<std::uint64_t> rows) { std::copy_n(codes.data() + at, rows.size(), rows.data()); };
    };
    blocks.set_first(block, reading(0));
    EXPECT_EQ(blocks.join_first({5}, {}).why.find("lean"), std::string::npos);
    blocks.set_second(block, reading(block));
    EXPECT_EQ(blocks.join_both({5}, {}).why.find("lean"), std::string::npos);
  }
  EXPECT_GT(budget.peak().count, cost.memory.count * 8 / 10) << "more is asked for than is used";
}

}  // namespace
}  // namespace millrace::hamming
