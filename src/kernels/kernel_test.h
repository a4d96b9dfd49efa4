// Helpers of the operations' tests: running a test body at every CPU level, and seeded data.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "src/base/error.h"
#include "src/device/cpu/cpu_level.h"
#include "src/device/cpu/executor.h"

namespace millrace {

// Runs `body` once at every level this machine has, and then restores the previous level.
inline void at_every_cpu_level(const std::function<void()>& body) {
  const CpuLevel before = current_cpu_level();
  for (const CpuLevel level : available_cpu_levels()) {
    use_cpu_level(level);
    ASSERT_EQ(current_cpu_level(), level);
    SCOPED_TRACE(name_of(level));
    body();
  }
  use_cpu_level(before);
}

// Cancels `work` before it begins, and then `moments` - 1 times during the run, at delays that are `step` apart. It
// must end as cancelled or complete, never in between.
inline void expect_that_it_can_be_stopped(int moments, std::chrono::microseconds step,
                                          const std::function<void(const Executor&)>& work) {
  for (int moment = 0; moment < moments; ++moment) {
    CancelToken token;
    if (moment == 0) token.cancel();
    const Executor executor(1 + moment % 2, &token);
    std::thread stopping([&] {
      std::this_thread::sleep_for(step * moment);
      token.cancel();
    });
    try {
      work(executor);
      EXPECT_GT(moment, 0) << "nothing had stopped it";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::cancelled) << failure.what();
    }
    stopping.join();
  }
}

inline std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

}  // namespace millrace
