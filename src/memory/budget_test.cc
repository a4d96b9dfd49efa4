#include "src/memory/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>
#include <thread>
#include <vector>

#include "src/memory/buffer.h"
#include "src/memory/reserved_buffer.h"

namespace millrace {
namespace {

using testing::HasSubstr;

const auto kNever = [] { return false; };

TEST(Budget, ReserveAndRelease) {
  Budget budget(10_MiB);
  EXPECT_EQ(budget.limit(), 10_MiB);
  EXPECT_EQ(budget.used().count, 0U);
  {
    Reservation a = budget.reserve(4_MiB, "a");
    const Reservation b = budget.reserve(6_MiB, "b");
    EXPECT_EQ(budget.used(), 10_MiB);
    EXPECT_FALSE(budget.try_reserve(Bytes{1}));
    Reservation moved = std::move(a);
    EXPECT_EQ(moved.size(), 4_MiB);
    EXPECT_EQ(a.size().count, 0U);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): empty after a move
    a.release();
    EXPECT_EQ(budget.used(), 10_MiB);
    moved.release();
    moved.release();
    EXPECT_EQ(budget.used(), 6_MiB);
    // Assignment returns the reservation that was held before.
    moved = budget.reserve(1_MiB, "a");
    moved = budget.reserve(2_MiB, "a");
    EXPECT_EQ(budget.used(), 8_MiB);
  }
  EXPECT_EQ(budget.used().count, 0U);
  EXPECT_EQ(budget.peak(), 10_MiB);
  EXPECT_TRUE(budget.try_reserve(10_MiB));
}

TEST(Budget, OutOfMemoryNamesPurposeAndSizes) {
  Budget budget(10_MiB);
  const Reservation held = budget.reserve(7_MiB, "the table");
  try {
    const Reservation more = budget.reserve(4_MiB, "the pairs");
    ADD_FAILURE() << "it was granted";
  } catch (const OutOfMemory& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::out_of_memory);
    EXPECT_THAT(failure.error().what, HasSubstr("the pairs needs 4.0 MiB"));
    EXPECT_THAT(failure.error().what, HasSubstr("3.0 MiB of 10 MiB"));
    EXPECT_THAT(failure.error().remedy, HasSubstr("--memory by at least 1.0 MiB"));
  }
  // Sizes whose sum would overflow are refused like any other.
  EXPECT_THROW(budget.reserve(Bytes{~std::uint64_t{0}}, "x"), OutOfMemory);
  EXPECT_FALSE(budget.try_reserve(Bytes{~std::uint64_t{0}}));
  EXPECT_EQ(budget.used(), 7_MiB);
}

TEST(Budget, SomeAreAsManyAsThereIsRoomFor) {
  Budget budget(10_MiB);
  std::size_t count = 12;
  {
    const Reservation some = budget.reserve_up_to(1_MiB, count, "some");
    EXPECT_EQ(count, 6U);
    EXPECT_EQ(some.size(), 6_MiB);
    count = 3;
    EXPECT_EQ(budget.reserve_up_to(2_MiB, count, "fewer").size(), 2_MiB);
    EXPECT_EQ(count, 1U);
    EXPECT_THROW(budget.reserve_up_to(5_MiB, count, "none"), OutOfMemory);
  }
  EXPECT_EQ(budget.used().count, 0U);
}

TEST(Budget, AWaitIsWoken) {
  Budget budget(10_MiB);
  Reservation held = budget.try_reserve(8_MiB).value();
  std::promise<void> waiting;
  std::atomic<bool> has_waited{false};
  std::thread waiter([&] {
    // The callback runs before every wait, so its first call shows that the wait is about to begin.
    const auto granted = budget.wait_for(5_MiB, "waiter", [&] {
      if (!has_waited.exchange(true)) waiting.set_value();
      return false;
    });
    ASSERT_TRUE(granted);
    EXPECT_EQ(granted->size(), 5_MiB);
  });
  waiting.get_future().wait();
  EXPECT_EQ(budget.used(), 8_MiB);
  held.release();
  waiter.join();
  EXPECT_EQ(budget.used().count, 0U);
  EXPECT_LE(budget.peak(), 10_MiB);
}

TEST(Budget, AWaitEndsWhenCancelled) {
  Budget budget(10_MiB);
  const Reservation held = budget.try_reserve(8_MiB).value();
  int asked = 0;
  EXPECT_FALSE(budget.wait_for(5_MiB, "waiter", [&] { return ++asked == 2; }));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(budget.used(), 8_MiB);
}

TEST(Budget, WaitingForTheImpossibleFailsAtOnce) {
  Budget budget(10_MiB);
  const Reservation table = budget.reserve(6_MiB, "the table");
  const Reservation other = budget.try_reserve(1_MiB).value();
  EXPECT_EQ(budget.largest_grant(), 4_MiB);
  EXPECT_THROW(budget.wait_for(5_MiB, "too much", kNever), OutOfMemory);
  // A request that fits once `other` is returned waits and is not refused.
  EXPECT_FALSE(budget.wait_for(4_MiB, "later", [] { return true; }));
  EXPECT_TRUE(budget.wait_for(3_MiB, "now", kNever));
}

TEST(Budget, WhatStandsIsGivenBackToo) {
  Budget budget(10_MiB);
  {
    const Reservation table = budget.reserve(6_MiB, "the table");
    EXPECT_EQ(budget.largest_grant(), 4_MiB);
  }
  EXPECT_EQ(budget.largest_grant(), 10_MiB);
  EXPECT_TRUE(budget.wait_for(10_MiB, "all", kNever));
}

TEST(Budget, AWaitThatBecomesImpossibleEnds) {
  Budget budget(10_MiB);
  Reservation passing = budget.try_reserve(8_MiB).value();
  Reservation table;
  std::promise<void> waiting;
  std::atomic<bool> has_waited{false};
  std::thread other([&] {
    waiting.get_future().wait();
    table = budget.reserve(2_MiB, "the table");
    passing.release();
    // By now the waiter has either been granted its memory or been refused.
  });
  const auto ask = [&] {
    if (!has_waited.exchange(true)) waiting.set_value();
    return false;
  };
  EXPECT_THROW(budget.wait_for(9_MiB, "waiter", ask), OutOfMemory);
  other.join();
}

TEST(Budget, ManyThreadsStayInside) {
  constexpr Bytes kLimit = 1_MiB;
  Budget budget(kLimit);
  const Reservation table = budget.reserve(100_KiB, "the table");
  // These counters are independent of the budget's own accounting.
  std::atomic<std::uint64_t> held{table.size().count}, most{0}, granted{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 500; ++i) {
        const Bytes size{1 + random() % (900 << 10)};
        std::optional<Reservation> r;
        if (i % 3 == 0) {
          r = budget.try_reserve(size);
        } else {
          r = budget.wait_for(size, "wait", kNever);
          ASSERT_TRUE(r);
        }
        if (!r) continue;
        ++granted;
        const std::uint64_t now = held += r->size().count;
        std::uint64_t before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        held -= r->size().count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(granted, 8U * 300U);
  EXPECT_LE(most, kLimit.count);
  EXPECT_LE(budget.peak(), kLimit);
  EXPECT_GE(budget.peak().count, most);
  EXPECT_EQ(budget.used(), table.size());
}

TEST(Budget, ResidentMemoryIsCounted) {
  const ResidentMemory memory = resident_memory();
  EXPECT_GT(memory.now.count, 0U);
  EXPECT_GE(memory.peak, memory.now);
}

TEST(Buffer, IsAlignedAndKeepsItsMemory) {
  Buffer<std::uint8_t> buffer(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kAlignment, 0U);
  std::uint8_t* const first = buffer.data();
  for (auto& b : buffer) b = 7;
  buffer.resize(10);
  EXPECT_EQ(buffer.size(), 10U);
  buffer.resize(1000);
  EXPECT_EQ(buffer.data(), first);
  EXPECT_EQ(buffer[999], 7);
  Buffer<std::uint8_t> moved = std::move(buffer);
  EXPECT_EQ(moved.data(), first);
  EXPECT_EQ(buffer.size(), 0U);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): empty after a move
  EXPECT_EQ(moved.span().size(), 1000U);
}

TEST(Budget, EveryKindHasALimitOfItsOwn) {
  Budget budget(Workspace{10_MiB, 4_MiB, 6_MiB});
  const Reservation host = budget.reserve(7_MiB, "tables");
  const Reservation device = budget.reserve(6_MiB, "weights", MemoryKind::device);
  EXPECT_THROW(budget.reserve(1_MiB, "more weights", MemoryKind::device), OutOfMemory);
  EXPECT_EQ(budget.used(MemoryKind::device), 6_MiB);
  {
    // Pinned memory counts as host memory too.
    const Reservation pinned = budget.reserve(2_MiB, "copies", MemoryKind::pinned);
    EXPECT_EQ(budget.used(MemoryKind::pinned), 2_MiB);
    EXPECT_EQ(budget.used(), 9_MiB);
    EXPECT_THROW(budget.reserve(2_MiB, "more copies", MemoryKind::pinned), OutOfMemory) << "the host has none left";
  }
  EXPECT_EQ(budget.used(), 7_MiB);
  EXPECT_EQ(budget.used(MemoryKind::pinned), Bytes{});
  EXPECT_EQ(budget.peak(), 9_MiB);
}

TEST(Budget, AWorkspaceIsHadWholeOrNotAtAll) {
  Budget budget(Workspace{10_MiB, 10_MiB, 2_MiB});
  EXPECT_THROW(budget.reserve_all(Workspace{3_MiB, 1_MiB, 3_MiB}, "a model"), OutOfMemory);
  EXPECT_EQ(budget.used(), Bytes{});
  EXPECT_EQ(budget.used(MemoryKind::pinned), Bytes{});
  {
    const ReservedWorkspace held = budget.reserve_all(Workspace{3_MiB, 1_MiB, 2_MiB}, "a model");
    EXPECT_EQ(budget.used(), 4_MiB);
    EXPECT_EQ(budget.used(MemoryKind::device), 2_MiB);
  }
  EXPECT_EQ(budget.used(), Bytes{});
  EXPECT_EQ(budget.used(MemoryKind::device), Bytes{});
  try {
    (void)budget.reserve(3_MiB, "weights", MemoryKind::device);
    FAIL();
  } catch (const OutOfMemory& refused) {
    EXPECT_NE(refused.error().what.find("of device memory"), std::string::npos);
    EXPECT_NE(refused.error().remedy.find("--device cpu"), std::string::npos);
  }
}

TEST(ReservedBuffer, ReturnsItsReservation) {
  Budget budget(1_MiB);
  {
    ReservedBuffer<float> buffer(budget, 1000, "numbers");
    EXPECT_EQ(budget.used(), Bytes{4000});
    EXPECT_EQ(buffer.size(), 1000);
    buffer.span()[999] = 1;
    const ReservedBuffer<float> moved = std::move(buffer);
    EXPECT_EQ(budget.used(), Bytes{4000});
  }
  EXPECT_EQ(budget.used(), Bytes{});
  EXPECT_THROW(ReservedBuffer<double>(budget, 1 << 20, "too many"), OutOfMemory);
  EXPECT_EQ(budget.used(), Bytes{});
}

}  // namespace
}  // namespace millrace
