// Tests chains whose items are elsewhere for a while, with a worker that has threads of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "src/pipeline/chain_for_test.h"

namespace millrace {
namespace {

using namespace for_test;

// Worker with threads of its own, which hands items back in any order.
class Elsewhere {
 public:
  ~Elsewhere() {
    for (std::thread& thread : threads_) thread.join();
  }
  template <typename Work>
  void begin(int delay, Work work) {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([delay, work = std::move(work)]() mutable {
      for (int i = 0; i < delay; ++i) std::this_thread::yield();
      work();
    });
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

TEST(ChainElsewhere, WhatIsDoneElsewhereComesBackInOrder) {
  for (const int threads : {1, 2, 7}) {
    JobSetup run(threads);
    Elsewhere elsewhere;
    std::vector<int> got;
    std::atomic<int> away{0}, most{0};
    auto stages = numbers(200) |
                  chain::submit<int>("elsewhere", 4,
                                     [&](int& item, std::function<void(std::exception_ptr)> done) {
                                       int now = ++away, before = most.load();
                                       while (before < now && !most.compare_exchange_weak(before, now)) {
                                       }
                                       elsewhere.begin(item * 7919 % 64, [&, done = std::move(done)] {
                                         item *= 2;
                                         --away;
                                         done(nullptr);
                                       });
                                     }) |
                  chain::sink<int>("keep", [&](int item, Span&) { got.push_back(item); });
    chain::run(stages, run.context, chain::MemoryCost::fixed({}));
    ASSERT_EQ(got.size(), 200U);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], 2 * i);
    // No thread of the run waits for an item: a single thread has several of them away.
    EXPECT_GT(most.load(), 1);
    EXPECT_LE(most.load(), 4 * threads);
  }
}

TEST(ChainElsewhere, WhatFailsElsewhereEndsTheRunWhenAllIsBack) {
  for (const bool max_concurrent : {false, true}) {
    for (const int threads : {1, 3}) {
      JobSetup run(threads);
      Elsewhere elsewhere;
      std::atomic<int> away{0};
      auto stages = numbers(100) |
                    chain::submit<int>(
                        "elsewhere", 4,
                        [&](int& item, std::function<void(std::exception_ptr)> done) {
                          if (item == 20 && max_concurrent) throw Failure(ErrorCode::bad_data, "no");
                          ++away;
                          elsewhere.begin(item * 7919 % 64, [&, done = std::move(done)] {
                            --away;
                            done(item == 20 ? std::make_exception_ptr(Failure(ErrorCode::bad_data, "no")) : nullptr);
                          });
                        }) |
                    chain::sink<int>("keep", [](int, Span&) {});
      EXPECT_THROW(chain::run(stages, run.context, chain::MemoryCost::fixed({})), Failure);
      // The items are destroyed, so no thread writes into them any more.
      EXPECT_EQ(away.load(), 0);
      EXPECT_EQ(run.budget.used(), Bytes{});
    }
  }
}

// Imitates the thread of a runtime that has called back, and still holds the callback when all else is gone.
TEST(ChainElsewhere, WhoHandsBackAndKeepsTheCallbackHoldsNoItem) {
  for (const bool failing : {false, true}) {
    std::mutex mutex;
    std::vector<std::function<void(std::exception_ptr)>> kept;
    std::atomic<int> lent{0};
    {
      JobSetup run(2);
      Elsewhere elsewhere;
      auto stages =
          numbers(60) |
          chain::parallel<int, std::shared_ptr<int>>("lend",
                                                     [&](int k, Span&) {
                                                       ++lent;
                                                       return std::shared_ptr<int>(new int(k), [&](const int* back) {
                                                         delete back;
                                                         --lent;
                                                       });
                                                     }) |
          chain::submit<std::shared_ptr<int>>(
              "elsewhere", 4,
              [&](const std::shared_ptr<int>& item, std::function<void(std::exception_ptr)> done) {
                const int number = *item;
                elsewhere.begin(number * 7919 % 64, [&, number, done = std::move(done)] {
                  {
                    const std::lock_guard lock(mutex);
                    kept.push_back(done);
                  }
                  done(failing && number > 20 ? std::make_exception_ptr(Failure(ErrorCode::bad_data, "no")) : nullptr);
                });
              }) |
          chain::sink<std::shared_ptr<int>>("keep", [](const std::shared_ptr<int>&, Span&) {});
      try {
        chain::run(stages, run.context, chain::MemoryCost::fixed(Bytes{1000}));
        EXPECT_FALSE(failing);
      } catch (const Failure&) {
        EXPECT_TRUE(failing);
      }
      EXPECT_EQ(lent.load(), 0);
      EXPECT_EQ(run.budget.used(), Bytes{});
    }
    EXPECT_FALSE(kept.empty());
  }
}

}  // namespace
}  // namespace millrace
