#include "src/memory/batch_backoff.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace {
namespace {

// Work that reserves one byte of a budget for each item.
struct Worker {
  explicit Worker(std::uint64_t limit) : budget(Bytes{limit}) {}
  BatchFit operator()(std::uint64_t begin, std::uint64_t end) {
    tried.push_back(end - begin);
    const Reservation held = budget.reserve(Bytes{end - begin}, "items");
    for (; begin < end; ++begin) done.push_back(begin);
    return BatchFit::easy;
  }
  Budget budget;
  std::vector<std::uint64_t> tried, done;
};

TEST(BackingOff, DoesEveryItemOnceAndInOrder) {
  for (const std::uint64_t limit : {1, 3, 7, 64, 1000}) {
    Worker worker(limit);
    run_with_backoff(5, 205, {64, 1}, std::ref(worker));
    ASSERT_EQ(worker.done.size(), 200) << limit;
    for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(worker.done[i], i + 5);
  }
}

TEST(BackingOff, GrowsAgainWhereThereIsRoom) {
  Worker worker(1000);
  Reservation others = worker.budget.reserve(Bytes{990}, "others");
  std::uint64_t largest = 0;
  run_with_backoff(0, 20000, {256, 1}, [&](std::uint64_t begin, std::uint64_t end) {
    if (begin > 100) others.release();
    const BatchFit fit = worker(begin, end);
    largest = std::max(largest, end - begin);
    return fit;
  });
  EXPECT_EQ(worker.done.size(), 20000);
  EXPECT_EQ(largest, 256);
}

TEST(BackingOff, TightOnesBecomeSmallerWithoutBeingTriedAgain) {
  std::vector<std::uint64_t> sizes;
  run_with_backoff(0, 100, {32, 4}, [&](std::uint64_t begin, std::uint64_t end) {
    sizes.push_back(end - begin);
    return BatchFit::tight;
  });
  EXPECT_EQ(std::vector<std::uint64_t>(sizes.begin(), sizes.begin() + 5),
            (std::vector<std::uint64_t>{32, 16, 8, 4, 4}));
}

TEST(BackingOff, WhatIsTriedInVainIsLittle) {
  Worker worker(40);
  run_with_backoff(0, 100'000, {64, 1}, std::ref(worker));
  std::uint64_t in_vain = 0;
  for (const std::uint64_t size : worker.tried) in_vain += size > 40 ? size : 0;
  EXPECT_EQ(worker.done.size(), 100'000);
  EXPECT_LT(in_vain, 1000);
}

TEST(BackingOff, ThrowsIfNothingFits) {
  Worker worker(3);
  EXPECT_THROW(run_with_backoff(0, 10, {8, 4}, std::ref(worker)), OutOfMemory);
  EXPECT_EQ(worker.tried, (std::vector<std::uint64_t>{8, 4}));
  Worker short_one(1);
  EXPECT_THROW(run_with_backoff(0, 2, {8, 2}, std::ref(short_one)), OutOfMemory);
  EXPECT_EQ(short_one.tried, (std::vector<std::uint64_t>{2})) << "fewer than a batch are halved from what they are";
  EXPECT_THROW(run_with_backoff(0, 9, {8, 1},
                                [](std::uint64_t, std::uint64_t) -> BatchFit { throw Failure(ErrorCode::io, "x"); }),
               Failure);
}

}  // namespace
}  // namespace millrace
