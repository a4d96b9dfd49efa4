// Runs one body over every implementation: brute force and index, at every CPU level, against the definition.
#include "src/kernels/hamming/hamming.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "src/device/cpu/cpu_level.h"
#include "src/kernels/hamming/hamming_cases_for_test.h"
#include "src/kernels/hamming/hamming_cost.h"
#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {
namespace {

std::vector<HammingPair> expanded(const JoinResult& joined, const Executor& executor, Budget& budget) {
  std::vector<HammingPair> rows;
  expand(joined, executor, budget, [&](std::span<const HammingPair> block) {
    EXPECT_LE(block.size(), kBlock);
    rows.insert(rows.end(), block.begin(), block.end());
  });
  return rows;
}

template <typename Code>
void expect_reference(const Case<Code>& example, int radius) {
  Budget budget(1_GiB);
  const std::span<const Code> codes(example.codes);
  const JoinResult truth = reference::self_join(codes, radius, budget);
  const std::vector<HammingPair> pairs = list_of(truth.pairs);
  const std::vector<HammingPair> rows = reference::row_pairs(codes, radius);
  const std::vector<std::uint32_t> nodes(truth.nodes.of_row.span().begin(), truth.nodes.of_row.span().end());
  for (const CpuLevel level : available_cpu_levels()) {
    use_cpu_level(level);
    for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index, Algorithm::automatic}) {
      for (const int threads : {1, 2, 7}) {
        SCOPED_TRACE(example.name + ", radius " + std::to_string(radius) + ", " + name_of(level) + ", " +
                     name_of(algorithm) + ", threads " + std::to_string(threads));
        const Executor executor(threads);
        const JoinResult joined = self_join(codes, {radius, algorithm}, executor, budget);
        ASSERT_EQ(joined.nodes.count, truth.nodes.count);
        ASSERT_TRUE(std::equal(nodes.begin(), nodes.end(), joined.nodes.of_row.span().begin()));
        ASSERT_EQ(list_of(joined.pairs), pairs);
        ASSERT_EQ(joined.expanded, rows.size());
        ASSERT_EQ(joined.collapsed, pairs.size());
        if (threads == 2) {
          const JoinResult counted = count(codes, {radius, algorithm}, executor, budget);
          ASSERT_EQ(counted.expanded, rows.size());
          ASSERT_EQ(counted.collapsed, pairs.size());
          ASSERT_EQ(counted.pairs.list.size(), 0U);
        }
        ASSERT_FALSE(joined.why.empty());
        if (algorithm == Algorithm::index) {
          ASSERT_EQ(expanded(joined, executor, budget), rows);
        }
      }
    }
  }
  use_cpu_level(available_cpu_levels().back());
  EXPECT_EQ(budget.used().count, 0u);
}

TEST(Hamming, SelfJoinOf64BitsEqualsTheDefinition) {
  for (const auto& example : cases<std::uint64_t>()) {
    for (const int radius : {0, 1, 3, 5, 10, 24, 64, 100}) expect_reference(example, radius);
  }
}

TEST(Hamming, SelfJoinOf256BitsEqualsTheDefinition) {
  for (const auto& example : cases<Code256>()) {
    for (const int radius : {0, 2, 31, 60, 90, 256}) expect_reference(example, radius);
  }
}

template <typename Code>
void expect_search(int radius) {
  Budget budget(1_GiB);
  for (const auto& example : cases<Code>()) {
    std::vector<Code> queries(example.codes.begin(),
                              example.codes.begin() + static_cast<std::ptrdiff_t>(example.codes.size() / 3));
    if (example.codes.size() == 1) queries = example.codes;
    const std::vector<HammingPair> truth =
        reference::search(std::span<const Code>(queries), std::span<const Code>(example.codes), radius);
    for (const CpuLevel level : available_cpu_levels()) {
      use_cpu_level(level);
      for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index, Algorithm::automatic}) {
        for (const int threads : {1, 3}) {
          SCOPED_TRACE(example.name + ", " + name_of(level) + ", " + name_of(algorithm));
          const Executor executor(threads);
          const CodeSearchResult found = search(std::span<const Code>(queries), std::span<const Code>(example.codes),
                                                {radius, algorithm}, executor, budget);
          ASSERT_EQ(list_of(found.pairs), truth);
        }
      }
      const Executor executor(2);
      std::vector<HammingPair> odd;
      std::copy_if(truth.begin(), truth.end(), std::back_inserter(odd),
                   [](const HammingPair& pair) { return (pair.i ^ pair.j) % 2 == 1; });
      const CodeSearchResult filtered =
          search(std::span<const Code>(queries), std::span<const Code>(example.codes), {radius}, executor, budget,
                 [](std::uint32_t i, std::uint32_t j) { return (i ^ j) % 2 == 1; });
      ASSERT_EQ(list_of(filtered.pairs), odd) << example.name << ", with a second condition";
    }
  }
  use_cpu_level(available_cpu_levels().back());
}

TEST(Hamming, SearchEqualsTheDefinition) {
  for (const int radius : {0, 5, 20, 64}) expect_search<std::uint64_t>(radius);
  for (const int radius : {0, 31, 90}) expect_search<Code256>(radius);
}

// Uses enough codes for wide parts, two-step bucket sorts and many tasks; brute force gives the expected pairs.
template <typename Code>
void expect_large(std::size_t n, int radius) {
  Random random(11);
  std::vector<Code> codes;
  for (std::size_t i = 0; i < n; ++i) codes.push_back(random_code<Code>(random));
  for (std::size_t i = 0; i < n / 50; ++i) {
    codes[random() % n] =
        flipped(codes[random() % n], static_cast<int>(random() % (static_cast<unsigned>(radius) + 2)), random);
  }
  for (std::size_t i = 0; i < n / 20; ++i) codes[random() % n] = codes[0];
  Budget budget(2_GiB);
  const std::span<const Code> view(codes);
  const Executor two(2);
  const JoinResult truth = self_join(view, {radius, Algorithm::brute}, two, budget);
  EXPECT_GT(truth.pairs.list.size(), n / 200);
  for (const CpuLevel level : available_cpu_levels()) {
    use_cpu_level(level);
    for (const int threads : {1, 2, 7}) {
      const Executor executor(threads);
      const JoinResult joined = self_join(view, {radius, Algorithm::index}, executor, budget);
      ASSERT_EQ(joined.used, Algorithm::index);
      ASSERT_EQ(list_of(joined.pairs), list_of(truth.pairs));
      ASSERT_EQ(joined.expanded, truth.expanded);
    }
  }
  use_cpu_level(available_cpu_levels().back());
  std::uint64_t streamed = 0;
  HammingPair last{0, 0, 0};
  expand(truth, two, budget, [&](std::span<const HammingPair> block) {
    for (const HammingPair& pair : block) {
      ASSERT_LT(std::pair(last.i, last.j), std::pair(pair.i, pair.j));
      ASSERT_EQ(pair.distance, distance(codes[pair.i], codes[pair.j]));
      last = pair;
    }
    streamed += block.size();
  });
  EXPECT_EQ(streamed, truth.expanded);
}

// Groups of codes a few bits apart, some of them equal: a sample has enough of them to be near the truth.
TEST(Hamming, ASampleTellsHowManyPairsThereWillBe) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> codes;
  for (int group = 0; group < 2000; ++group) {
    const std::uint64_t middle = random();
    for (int i = 0; i < 40; ++i) codes.push_back(middle ^ (std::uint64_t{1} << (random() % 64)));
  }
  const Executor executor(2);
  Budget budget(1_GiB);
  const JoinResult truth = count(std::span<const std::uint64_t>(codes), {2}, executor, budget);
  const JoinEstimate estimate = hamming::estimate(std::span<const std::uint64_t>(codes), {2}, true, executor, budget);
  EXPECT_EQ(estimate.nodes, truth.nodes.count);
  EXPECT_NEAR(estimate.collapsed / static_cast<double>(truth.collapsed), 1, 0.1);
  EXPECT_NEAR(estimate.expanded / static_cast<double>(truth.expanded), 1, 0.1);
  // The sample contains all nodes, so the estimate is exact.
  const std::span<const std::uint64_t> few = std::span<const std::uint64_t>(codes).first(200);
  EXPECT_EQ(hamming::estimate(few, {2}, true, executor, budget).expanded,
            static_cast<double>(count(few, {2}, executor, budget).expanded));
  EXPECT_EQ(hamming::estimate(few.first(0), {2}, true, executor, budget).expanded, 0);
}

// Counts a billion pairs in less memory than a hundred thousandth of them would take.
TEST(Hamming, CountedPairsAreHeldNowhere) {
  std::vector<std::uint64_t> codes(50'000);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = i;
  const Executor executor(2);
  Budget budget(8_MiB);
  const JoinResult counted = count(std::span<const std::uint64_t>(codes), {64, Algorithm::brute}, executor, budget);
  EXPECT_EQ(counted.expanded, codes.size() * (codes.size() - 1) / 2);
  EXPECT_THROW(self_join(std::span<const std::uint64_t>(codes), {64, Algorithm::brute}, executor, budget), OutOfMemory);
}

TEST(Hamming, ProgressComesToItsEnd) {
  std::vector<std::uint64_t> codes(20'000);
  std::mt19937_64 random(6);
  for (std::uint64_t& code : codes) code = random();
  for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
    std::atomic<std::uint64_t> done{0}, whole{0};
    Options options{4, algorithm};
    options.progress = [&](std::uint64_t more, std::uint64_t all) {
      done += more;
      whole = all;
    };
    Budget budget(64_MiB);
    count(std::span<const std::uint64_t>(codes), options, Executor(2), budget);
    EXPECT_EQ(done, whole);
    EXPECT_GE(done, codes.size());
  }
}

TEST(Hamming, LargeCollectionsAgreeWithBruteForce) {
  expect_large<std::uint64_t>(40000, 5);
  expect_large<Code256>(20000, 31);
}

TEST(Hamming, LeanLayoutAndOutOfMemory) {
  Random random(3);
  std::vector<std::uint64_t> codes;
  for (int i = 0; i < 300000; ++i) codes.push_back(random_code<std::uint64_t>(random));
  const Executor executor(2);
  Budget roomy(1_GiB);
  const JoinResult truth = self_join(codes, {5, Algorithm::index}, executor, roomy);
  EXPECT_LE(roomy.peak().count, 64 * codes.size());
  Budget lean(Bytes{roomy.peak().count - 1});
  const JoinResult joined = self_join(codes, {5, Algorithm::index}, executor, lean);
  EXPECT_NE(joined.why.find("less memory"), std::string::npos) << joined.why;
  EXPECT_EQ(list_of(joined.pairs), list_of(truth.pairs));
  Budget small(Bytes{codes.size() * 16});
  EXPECT_THROW(self_join(codes, {5, Algorithm::index}, executor, small), OutOfMemory);
  EXPECT_EQ(small.used().count, 0u);
}

TEST(Hamming, RefusesANegativeRadiusAndStopsWhenCancelled) {
  Budget budget(1_GiB);
  const std::vector<std::uint64_t> codes(10, 1);
  EXPECT_THROW(self_join(codes, {-1}, Executor(1), budget), Failure);
  CancelToken cancel;
  cancel.cancel();
  try {
    self_join(codes, {1}, Executor(2, &cancel), budget);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::cancelled);
  }
}

TEST(Hamming, PlansCoverTheRadius) {
  for (const int bits : {64, 256}) {
    for (const double agree : {0.5, 0.7, 0.95}) {
      for (int radius = 0; radius < bits; radius += 3) {
        for (const std::uint64_t n : {1000u, 1000000u}) {
          JoinProblem problem{bits,
                              n,
                              n,
                              true,
                              radius,
                              2,
                              Algorithm::index,
                              std::vector<double>(static_cast<std::size_t>(bits), agree)};
          const JoinPlan plan = choose_plan(problem);
          if (plan.algorithm != Algorithm::index) continue;
          int covered = 0;
          std::vector<std::uint64_t> used(4);
          for (const IndexPart& part : plan.parts) {
            covered += part.threshold + 1;
            auto& word = used[static_cast<std::size_t>(part.word)];
            EXPECT_EQ(word & part.mask(), 0u);
            word |= part.mask();
          }
          EXPECT_EQ(covered, radius + 1);
        }
      }
    }
  }
  EXPECT_EQ(list_flips(3, 2), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(list_flips(5, 0).empty());
}

}  // namespace
}  // namespace millrace::hamming
