#include "src/device/cpu/executor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "src/base/error.h"

namespace millrace {
namespace {

constexpr int kThreads[] = {1, 2, 7};

TEST(Executor, CoversEveryIndexOnce) {
  for (const int threads : kThreads) {
    const Executor executor(threads);
#ifndef MILLRACE_SERIAL
    EXPECT_EQ(executor.threads(), threads);
#endif
    for (const std::size_t count : {0UL, 1UL, 2UL, 6UL, 7UL, 100UL, 1001UL}) {
      for (const std::size_t grain : {0UL, 1UL, 3UL, 100UL, 5000UL, std::numeric_limits<std::size_t>::max() / 2}) {
        std::vector<std::atomic<int>> seen(count);
        std::atomic<int> short_ranges{0};
        executor.parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
          ASSERT_LT(begin, end);
          ASSERT_LE(end, count);
          if (end - begin < grain && end != count) ++short_ranges;
          for (std::size_t i = begin; i < end; ++i) ++seen[i];
        });
        for (const auto& times : seen) ASSERT_EQ(times, 1) << count << " by " << grain << " on " << threads;
        EXPECT_EQ(short_ranges, 0);
      }
    }
  }
}

TEST(Executor, ZeroThreadsIsOneACore) {
#ifndef MILLRACE_SERIAL
  EXPECT_EQ(Executor(0).threads(), usable_cores());
#endif
  EXPECT_GE(usable_cores(), 1);
}

TEST(Executor, AnExceptionArrives) {
  for (const int threads : kThreads) {
    const Executor executor(threads);
    const auto work = [&] {
      executor.parallel_for(1000, 1, [](std::size_t begin, std::size_t) {
        if (begin == 613) throw std::runtime_error("part 613");
      });
    };
    try {
      work();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "part 613");
    }
    EXPECT_THROW(executor.run([] { throw std::logic_error("run"); }), std::logic_error);
    // The executor still works after an exception.
    std::atomic<int> calls{0};
    executor.parallel_for(10, 1, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 10);
  }
}

TEST(Executor, CancelStopsWhatHasNotBegun) {
  for (const int threads : kThreads) {
    CancelToken token;
    const Executor executor(threads, &token);
    EXPECT_FALSE(executor.cancelled());
    std::atomic<std::size_t> calls{0};
    constexpr std::size_t kParts = 100000;
    executor.parallel_for(kParts, 1, [&](std::size_t, std::size_t) {
      ++calls;
      token.cancel();
    });
    EXPECT_TRUE(executor.cancelled());
    EXPECT_GE(calls, 1U);
    // Each thread may have begun one range before it saw the cancel.
    EXPECT_LE(calls, static_cast<std::size_t>(executor.threads()) + 1);
    const std::size_t before = calls;
    executor.parallel_for(kParts, 1, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, before);
  }
}

TEST(Executor, ACallIsCancelledAloneOnTheThreadsOfAll) {
  for (const int threads : kThreads) {
    CancelToken token;
    auto all = std::make_unique<const Executor>(threads);
    const Executor call(*all, &token);
    EXPECT_EQ(call.threads(), all->threads());
    token.cancel();
    std::atomic<int> calls{0};
    call.parallel_for(100, 1, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 0);
    EXPECT_THROW(call.throw_if_cancelled("nothing"), Failure);
    all->parallel_for(100, 1, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 100);
    EXPECT_NO_THROW(all->throw_if_cancelled());
    // The threads exist as long as any executor shares them.
    const Executor other(*all, nullptr);
    all.reset();
    other.parallel_for(100, 1, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 200);
  }
}

TEST(Executor, CallsMayBeNested) {
  for (const int threads : kThreads) {
    const Executor executor(threads);
    constexpr std::size_t kSide = 37;
    std::vector<std::atomic<int>> seen(kSide * kSide * kSide);
    executor.run([&] {
      executor.parallel_for(kSide, 1, [&](std::size_t x0, std::size_t x1) {
        for (std::size_t x = x0; x < x1; ++x) {
          executor.parallel_for(kSide, 2, [&](std::size_t y0, std::size_t y1) {
            for (std::size_t y = y0; y < y1; ++y) {
              executor.parallel_for(kSide, 5, [&](std::size_t z0, std::size_t z1) {
                for (std::size_t z = z0; z < z1; ++z) ++seen[(x * kSide + y) * kSide + z];
              });
            }
          });
        }
      });
    });
    for (const auto& times : seen) ASSERT_EQ(times, 1);
  }
}

#ifndef MILLRACE_SERIAL
// Work enqueued by a foreign thread may be the last work. The executor may then be destroyed while that thread is still
// returning from enqueue().
TEST(Executor, WorkOfAnotherThreadMayBeTheLast) {
  for (int k = 0; k < 400; ++k) {
    std::promise<void> done;
    std::thread other;
    {
      const Executor executor(3);
      executor.parallel_for(8, 1, [](std::size_t, std::size_t) {});
      other = std::thread([&] { executor.enqueue([&] { done.set_value(); }); });
      done.get_future().wait();
    }
    other.join();
  }
}
#endif

#if !defined(MILLRACE_SERIAL) && !defined(MILLRACE_SANITIZED)
// A forked child must not wait for threads that exist only in its parent. (In the child of an instrumented process
// hardly any call is allowed.)
TEST(Executor, AForkedChildWorksAlone) {
  const Executor executor(3);
  const auto sums = [](const Executor& on) {
    std::atomic<std::size_t> sum{0};
    on.run([&] {
      on.parallel_for(1000, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) sum += i;
      });
    });
    on.enqueue([&] { sum += 1; });
    return sum.load();
  };
  executor.parallel_for(1000, 1, [](std::size_t, std::size_t) {});
  ASSERT_FALSE(is_forked_after_threads());
  const pid_t child = ::fork();
  if (child == 0) {
    const Executor anew(5);
    const bool right =
        is_forked_after_threads() && sums(executor) == 499'501 && sums(anew) == 499'501 && anew.threads() == 1;
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(is_forked_after_threads());
}
#endif

}  // namespace
}  // namespace millrace
