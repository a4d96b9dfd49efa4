#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "src/kernels/kernel_test.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/floats_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::floats::HWY_NAMESPACE {

void MultiplyAdd(const float* a, const float* b, const float* c, float* out) {
  using Eight = Floats<8>;
  multiply_add(Eight::at(a), Eight::at(b), Eight::at(c)).put(out);
}

}  // namespace millrace::floats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::floats {
namespace {

HWY_EXPORT(MultiplyAdd);

struct Case {
  float a, b, c;
};

// Returns cases that go wrong if the product is rounded before the addition, or the sum to float64 first. Others lie at
// the ends of the number range.
std::vector<Case> hard_cases() {
  const float tiny = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max(),
              infinity = std::numeric_limits<float>::infinity();
  std::vector<Case> out = {
      {1 + 0x1p-12F, 1 + 0x1p-12F, -1},
      // The product is just above or exactly half a unit in the last place of c, so that very low bits decide.
      {0x1p-24F, 1 + 0x1p-23F, 1},
      {0x1p-24F, 1, 1},
      {0x1p-24F, 1, 1 + 0x1p-23F},
      {0x1.000002p-24F, 0x1.fffffep-1F, 1},
      {0x1p-60F, 0x1p-60F, 1 + 0x1p-23F},
      {0x1.8p-12F, 0x1.8p-12F, 0x1p+12F},
      // Results are subnormal.
      {0x1p-75F, 0x1p-75F, tiny},
      {0x1.8p-75F, 0x1p-75F, tiny},
      {-0x1.000002p-64F, 0x1.000002p-62F, 0x1.fffffep-126F},
      {0x1p-100F, 0x1p-100F, 0},
      {-0x1p-100F, 0x1p-100F, 0},
      {tiny, 0.5F, 0},
      // Results are zero, overflow or are not finite.
      {3, 4, -12},
      {-0.0F, 1, -0.0F},
      {0, 5, -0.0F},
      {most, 1, most},
      {most, 1 + 0x1p-23F, -most},
      {most, 2, -infinity},
      {infinity, 2, 1},
      {infinity, 0, 1},
      {2, std::numeric_limits<float>::quiet_NaN(), 1},
  };
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto number = [&](int spread) {
      const float part = static_cast<float>(random() % (1U << 24)) * 0x1p-24F + 1;
      const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
      return std::ldexp(random() % 2 == 0 ? part : -part, exponent);
    };
    const int spread = i % 3 == 0 ? 1 : i % 3 == 1 ? 14 : 80;
    out.push_back({number(spread), number(spread), number(spread)});
    // Results lie near the middle between two numbers.
    const float c = number(0), half = 0x1p-24F * (random() % 2 == 0 ? 1 : -1);
    out.push_back({half, 1 + static_cast<float>(static_cast<int>(random() % 3) - 1) * 0x1p-23F, c});
  }
  while (out.size() % 8 != 0) out.push_back({1, 1, 1});
  return out;
}

TEST(Floats, AProductAndASumAreRoundedOnceAtEveryLevel) {
  const std::vector<Case> cases = hard_cases();
  at_every_cpu_level([&] {
    for (std::size_t i = 0; i < cases.size(); i += 8) {
      std::array<float, 8> a{}, b{}, c{}, out{};
      for (std::size_t k = 0; k < 8; ++k) {
        a[k] = cases[i + k].a;
        b[k] = cases[i + k].b;
        c[k] = cases[i + k].c;
      }
      HWY_DYNAMIC_DISPATCH(MultiplyAdd)(a.data(), b.data(), c.data(), out.data());
      for (std::size_t k = 0; k < 8; ++k) {
        const float expected = std::fma(a[k], b[k], c[k]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(out[k]));
          continue;
        }
        ASSERT_EQ(std::bit_cast<std::uint32_t>(out[k]), std::bit_cast<std::uint32_t>(expected))
            << a[k] << " * " << b[k] << " + " << c[k];
      }
    }
  });
}

}  // namespace
}  // namespace millrace::floats
#endif
