#include "src/pipeline/chain.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "src/pipeline/chain_for_test.h"

namespace millrace {
namespace {

using namespace for_test;

TEST(Chain, SameOrderForEveryNumberOfThreads) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads);
    std::vector<int> seen, got;
    auto stages = numbers(500) | chain::parallel<int, int>("work", [](int i, Span&) { return busy(i); }) |
                  chain::ordered<int, int>("order", [&](int i, Span&) { return seen.push_back(i), i + 1; }) |
                  chain::sink<int>("keep", [&](int i, Span&) { got.push_back(i); });
    chain::run(stages, run.context, chain::MemoryCost::fixed({}));
    ASSERT_EQ(got.size(), 500U);
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(seen[static_cast<std::size_t>(i)], 3 * i);
      EXPECT_EQ(got[static_cast<std::size_t>(i)], 3 * i + 1);
    }
  }
}

TEST(Chain, TokensBoundWhatIsInFlight) {
  for (const int threads : {1, 2, 7}) {
    // The budget has room for three items.
    JobSetup run(threads, 3_MiB);
    std::atomic<int> inside{0}, most{0};
    auto stages = chain::source<int>("numbers",
                                     [&, next = 0]() mutable -> std::optional<int> {
                                       if (next == 200) return std::nullopt;
                                       const int now = ++inside;
                                       int before = most.load();
                                       while (before < now && !most.compare_exchange_weak(before, now)) {
                                       }
                                       return next++;
                                     }) |
                  chain::parallel<int, int>("work", [](int i, Span&) { return busy(i); }) |
                  chain::sink<int>("done", [&](int, Span&) { --inside; });
    EXPECT_EQ(chain::count_tokens(run.context, 1_MiB), static_cast<std::size_t>(std::min(3, 4 * threads)));
    chain::run(stages, run.context, chain::MemoryCost::fixed(1_MiB));
    EXPECT_LE(most.load(), 3);
    EXPECT_EQ(run.budget.used(), Bytes{});
    EXPECT_EQ(run.budget.peak(), 3_MiB);
  }
}

TEST(Chain, AnItemLargerThanTheBudgetIsRefusedBeforeItStarts) {
  JobSetup run(2, 1_MiB);
  std::atomic<int> given{0};
  auto stages = numbers(10, &given) | chain::sink<int>("none", [](int, Span&) {});
  EXPECT_THROW(chain::run(stages, run.context, chain::MemoryCost::fixed(2_MiB)), OutOfMemory);
  EXPECT_EQ(given.load(), 0);
}

TEST(Chain, AnExceptionArrivesAndReturnsTheTokens) {
  for (const int threads : {1, 2, 7}) {
    for (const char* where : {"source", "work", "sink"}) {
      JobSetup run(threads);
      const std::string at = where;
      int kept = 0;
      auto stages = chain::source<int>("numbers",
                                       [&, next = 0]() mutable -> std::optional<int> {
                                         if (at == "source" && next == 50)
                                           throw Failure(ErrorCode::io, "the source broke");
                                         return next < 100 ? std::optional(next++) : std::nullopt;
                                       }) |
                    chain::parallel<int, int>("work",
                                              [&](int i, Span&) {
                                                if (at == "work" && i == 50)
                                                  throw Failure(ErrorCode::io, "the work broke");
                                                return i;
                                              }) |
                    chain::sink<int>("sink", [&](int i, Span&) {
                      if (at == "sink" && i == 50) throw Failure(ErrorCode::io, "the sink broke");
                      ++kept;
                    });
      try {
        chain::run(stages, run.context, chain::MemoryCost::fixed(1_MiB));
        ADD_FAILURE() << where;
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.error().what, "the " + at + " broke");
      }
      // The sink takes items in order: all before the one that failed in it, and none after.
      EXPECT_LE(kept, 50);
      if (at == "sink") {
        EXPECT_EQ(kept, 50);
      }
      EXPECT_EQ(run.budget.used(), Bytes{});
    }
  }
}

// An item that needs more than the budget has beside the chain's own items is refused. Such items used to wait for
// ever.
TEST(Chain, AnItemThatCanNeverHaveItsMemoryIsRefused) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads);
    const Bytes beyond = run.budget.limit() - 1_MiB + Bytes{1};
    std::atomic<int> refused{0}, granted{0};
    auto stages = numbers(20) |
                  chain::parallel<int, int>("work",
                                            [&](int i, Span&) {
                                              try {
                                                const auto never = [] { return false; };
                                                const Bytes wanted = i % 2 == 0 ? beyond : 1_MiB;
                                                if (run.budget.wait_for(wanted, "an item", never)) {
                                                  ++granted;
                                                }
                                              } catch (const OutOfMemory&) {
                                                ++refused;
                                              }
                                              return i;
                                            }) |
                  chain::sink<int>("sink", [](int, Span&) {});
    chain::run(stages, run.context, chain::MemoryCost::fixed(1_MiB));
    EXPECT_EQ(refused, 10);
    EXPECT_EQ(granted, 10);
  }
}

TEST(Chain, CancellingStopsTheSourceAndFinishesWhatIsInFlight) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads);
    std::atomic<int> given{0};
    std::vector<int> got;
    auto stages = numbers(1'000'000, &given) | chain::parallel<int, int>("work", [](int i, Span&) { return i; }) |
                  chain::sink<int>("sink", [&](int i, Span&) {
                    got.push_back(i);
                    if (i == 20) run.cancel.cancel();
                  });
    chain::run(stages, run.context, chain::MemoryCost::fixed({}));
    EXPECT_GE(got.size(), 21U);
    EXPECT_EQ(got.size(), static_cast<std::size_t>(given.load())) << "nothing that was begun is dropped";
    EXPECT_LE(got.size(), 21U + chain::count_tokens(run.context, {}));
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<int>(i));
  }
}

TEST(Chain, ItemsWaitForTheMemoryThatEachOfThemTakes) {
  for (const int threads : {1, 2, 7}) {
    for (const Bytes most : {chain::kNoLimit, 5_MiB}) {
      JobSetup run(threads, 8_MiB);
      std::atomic<std::uint64_t> held{0}, peak{0};
      std::vector<int> got;
      const auto memory_cost = [](const int& i) { return Bytes{static_cast<std::uint64_t>(i % 8 + 1) << 20}; };
      auto stages =
          chain::source<int>(
              "numbers",
              [next = 0]() mutable -> std::optional<int> { return next < 300 ? std::optional(next++) : std::nullopt; },
              memory_cost) |
          chain::parallel<int, int>("take",
                                    [&](int i, Span&) {
                                      const std::uint64_t now = held += memory_cost(i).count;
                                      std::uint64_t before = peak;
                                      while (before < now && !peak.compare_exchange_weak(before, now)) {
                                      }
                                      busy(i);
                                      return i;
                                    }) |
          chain::sink<int>("give back", [&](int i, Span&) {
            got.push_back(i);
            held -= memory_cost(i).count;
          });
      chain::run(stages, run.context, chain::MemoryCost::per_item(most));
      ASSERT_EQ(got.size(), 300U);
      for (int i = 0; i < 300; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
      // An item that is larger than `most` is in flight alone.
      EXPECT_LE(peak.load(), (8_MiB).count);
      EXPECT_LE(run.budget.peak(), 8_MiB);
      EXPECT_EQ(run.budget.used(), Bytes{});
    }
  }
}

TEST(Chain, TheMostThatIsInFlightIsKeptTo) {
  JobSetup run(7);
  std::atomic<int> inside{0}, most{0};
  auto stages =
      chain::source<int>(
          "numbers",
          [&, next = 0]() mutable -> std::optional<int> { return next < 300 ? std::optional(next++) : std::nullopt; },
          [](const int&) { return 1_MiB; }) |
      chain::parallel<int, int>("work",
                                [&](int i, Span&) {
                                  const int now = ++inside;
                                  int before = most;
                                  while (before < now && !most.compare_exchange_weak(before, now)) {
                                  }
                                  busy(i);
                                  --inside;
                                  return i;
                                }) |
      chain::sink<int>("end", [](int, Span&) {});
  chain::run(stages, run.context, chain::MemoryCost::per_item(2_MiB));
  EXPECT_LE(most.load(), 2);
  EXPECT_LE(run.budget.peak(), 2_MiB);
}

TEST(Chain, AnItemForWhichThereCanBeNoMemoryEndsTheRun) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads, 4_MiB);
    std::vector<int> got;
    auto stages =
        chain::source<int>(
            "numbers",
            [next = 0]() mutable -> std::optional<int> { return next < 100 ? std::optional(next++) : std::nullopt; },
            [](const int& i) { return i == 50 ? 5_MiB : 1_MiB; }) |
        chain::parallel<int, int>("work", [](int i, Span&) { return busy(i) / 3; }) |
        chain::sink<int>("sink", [&](int i, Span&) { got.push_back(i); });
    EXPECT_THROW(chain::run(stages, run.context, chain::MemoryCost::per_item()), OutOfMemory);
    ASSERT_EQ(got.size(), 50U) << "all before it are through";
    EXPECT_EQ(run.budget.used(), Bytes{});
  }
}

TEST(Chain, BatchesAreConsecutiveItemsThatGoTogether) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads, 16_MiB);
    std::vector<std::vector<int>> got;
    auto stages =
        chain::source<int>(
            "numbers",
            [next = 0]() mutable -> std::optional<int> { return next < 23 ? std::optional(next++) : std::nullopt; },
            [](const int&) { return 1_MiB; }) |
        chain::batch<int>(4, [](const int& first, const int& next) { return first / 10 == next / 10; }) |
        chain::parallel<std::vector<int>, std::vector<int>>("work",
                                                            [&](std::vector<int> items, Span&) {
                                                              EXPECT_GE(run.budget.used(), Bytes{items.size() << 20});
                                                              return items;
                                                            }) |
        chain::sink<std::vector<int>>("sink", [&](std::vector<int> items, Span&) { got.push_back(std::move(items)); });
    for (int round = 0; round < 2; ++round) {
      got.clear();
      chain::run(stages, run.context, chain::MemoryCost::per_item());
      const std::vector<std::vector<int>> expected = {{0, 1, 2, 3},     {4, 5, 6, 7}, {8, 9},      {10, 11, 12, 13},
                                                      {14, 15, 16, 17}, {18, 19},     {20, 21, 22}};
      EXPECT_EQ(got, expected) << "every run begins anew";
    }
  }
}

// A slow sink must not keep other items from starting.
TEST(Chain, AThreadThatEndsItemsDoesNotKeepOthersFromTheSource) {
  JobSetup run(4);
  std::atomic<int> working{0};
  bool seen = false;
  auto stages = numbers(400) |
                chain::parallel<int, int>("work",
                                          [&](int i, Span&) {
                                            ++working;
                                            busy(i);
                                            --working;
                                            return i;
                                          }) |
                chain::sink<int>("slow", [&](int i, Span&) {
                  // Waits until another thread is seen at work; the sink's own thread is not.
                  for (int t = 0; !seen && i > 20 && t < 200'000; ++t) {
                    seen = working > 0;
                    std::this_thread::yield();
                  }
                });
  chain::run(stages, run.context, chain::MemoryCost::fixed({}));
  EXPECT_TRUE(seen);
}

// Each of two items waits for the other. This fails if an ordered stage keeps the next item until the one before it has
// passed all stages that follow.
TEST(Chain, WhatComesThroughAStageInOrderIsWorkedOnTogether) {
  JobSetup run(2);
  std::mutex mutex;
  std::condition_variable met;
  int inside = 0;
  auto stages = numbers(2) | chain::ordered<int, int>("order", [](int i, Span&) { return i; }) |
                chain::parallel<int, int>(
                    "work",
                    [&](int i, Span&) {
                      std::unique_lock lock(mutex);
                      ++inside;
                      met.notify_all();
                      EXPECT_TRUE(met.wait_for(lock, std::chrono::seconds(60), [&] { return inside == 2; }));
                      return i;
                    }) |
                chain::sink<int>("end", [](int, Span&) {});
  chain::run(stages, run.context, chain::MemoryCost::fixed({}));
}

TEST(Chain, NothingInNothingOut) {
  JobSetup run(3);
  int got = 0;
  auto stages = numbers(0) | chain::sink<int>("sink", [&](int, Span&) { ++got; });
  chain::run(stages, run.context, chain::MemoryCost::fixed(1_MiB));
  EXPECT_EQ(got, 0);
}

TEST(Chain, OneItemBecomesManyAndManyBecomeOne) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads);
    std::vector<std::pair<int, int>> got;  // the item, and the sum of its parts
    struct Part {
      int of = 0, k = 0, count = 0;
    };
    int sum = 0;
    auto stages =
        numbers(30) |
        chain::expand<int, Part>("parts",
                                 [](int of) {
                                   // Some items are split into nothing.
                                   return [of, count = of % 5, k = 0](bool&) mutable -> std::optional<Part> {
                                     if (k == count) return std::nullopt;
                                     return Part{of, k++, count};
                                   };
                                 }) |
        chain::parallel<Part, Part>("work", [](Part part, Span&) { return busy(part.k), part; }) |
        chain::collect<Part, std::pair<int, int>>("sum",
                                                  [&](Part part, Span&) -> std::optional<std::pair<int, int>> {
                                                    sum = (part.k == 0 ? 0 : sum) + part.k + 1;
                                                    if (part.k + 1 < part.count) return std::nullopt;
                                                    return std::pair(part.of, sum);
                                                  }) |
        chain::parallel<std::pair<int, int>, std::pair<int, int>>("more", [](auto item, Span&) { return item; }) |
        chain::sink<std::pair<int, int>>("keep", [&](auto item, Span&) { got.push_back(item); });
    chain::run(stages, run.context, chain::MemoryCost::fixed({}));
    std::vector<std::pair<int, int>> expected;
    for (int of = 0; of < 30; ++of)
      if (const int n = of % 5; n > 0) expected.emplace_back(of, n * (n + 1) / 2);
    EXPECT_EQ(got, expected);
    EXPECT_EQ(run.budget.used(), Bytes{});
  }
}

TEST(Chain, AnItemThatWaitsForAnotherComesWhenThatIsThrough) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads);
    // Each item has three parts. The first part of the next item comes only when all parts of the one before are
    // through.
    std::atomic<int> inside{0};
    std::vector<int> got;
    int refused = 0;
    auto stages = numbers(40) |
                  chain::expand<int, int>("parts",
                                          [&](int of) {
                                            return [&, of, k = 0](bool& later) mutable -> std::optional<int> {
                                              if (k == 0 && inside.load() > 0) {
                                                ++refused;
                                                later = true;
                                                return std::nullopt;
                                              }
                                              if (k == 3) return std::nullopt;
                                              ++inside;
                                              return 10 * of + k++;
                                            };
                                          }) |
                  chain::batch<int>(2) |
                  chain::parallel<chain::Batch<int>, chain::Batch<int>>(
                      "work", [](auto items, Span&) { return busy(items[0]), items; }) |
                  chain::sink<chain::Batch<int>>("keep", [&](auto items, Span&) {
                    got.insert(got.end(), items.begin(), items.end());
                    inside -= static_cast<int>(items.size());
                  });
    chain::run(stages, run.context, chain::MemoryCost::fixed({}));
    std::vector<int> expected;
    for (int of = 0; of < 40; ++of)
      for (int k = 0; k < 3; ++k) expected.push_back(10 * of + k);
    EXPECT_EQ(got, expected);
    EXPECT_GT(refused, 0);
  }
}

}  // namespace
}  // namespace millrace
