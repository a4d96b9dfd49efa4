// What the operations' tests share: running one body at every CPU level, and seeded data.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "src/device/cpu/level.h"

namespace millrace {

// Runs `body` once at every level this machine has, and puts the best one back.
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

inline std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

}  // namespace millrace
