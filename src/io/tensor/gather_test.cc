#include "src/io/tensor/gather.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace millrace {
namespace {

// Copies element by element, each from its own offset.
std::vector<std::byte> one_by_one(const std::byte* from, std::size_t size, const std::vector<std::uint64_t>& shape,
                                  const std::vector<std::uint64_t>& strides) {
  std::uint64_t count = 1;
  for (const std::uint64_t side : shape) count *= side;
  std::vector<std::byte> out(count * size);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i, place = 0;
    for (std::size_t side = shape.size(); side-- > 0; rest /= shape[side]) place += rest % shape[side] * strides[side];
    std::memcpy(out.data() + i * size, from + place * size, size);
  }
  return out;
}

TEST(Gather, EveryStrideFollowsItsDefinition) {
  std::mt19937 random(3);
  std::vector<std::byte> memory(100'000);
  for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t size = std::size_t{1} << random() % 4;
    std::vector<std::uint64_t> shape(random() % 5), strides(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      shape[i] = random() % 20 == 0 ? 0 : 1 + random() % 6;
      strides[i] = random() % 40;
    }
    // Every third trial has sides that follow one another without a gap.
    for (std::size_t i = shape.size(); trial % 3 == 0 && i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    const std::byte* const from = memory.data() + random() % 9;
    if (count_spanned_elements(shape, strides) * size + 9 > memory.size()) continue;
    const std::vector<std::byte> expected = one_by_one(from, size, shape, strides);
    std::vector<std::byte> out(expected.size());
    gather(from, size, shape, strides, out.data());
    ASSERT_EQ(out, expected) << trial;
  }
}

TEST(Gather, ReachIsOfTheLastElement) {
  using Sides = std::vector<std::uint64_t>;
  EXPECT_EQ(count_spanned_elements({}, {}), 1U);
  EXPECT_EQ(count_spanned_elements(Sides{2, 3}, Sides{3, 1}), 6U);
  EXPECT_EQ(count_spanned_elements(Sides{2, 3}, Sides{1, 10}), 22U);
  EXPECT_EQ(count_spanned_elements(Sides{5}, Sides{0}), 1U);
  EXPECT_EQ(count_spanned_elements(Sides{1000, 0}, Sides{1, 1}), 0U);
}

}  // namespace
}  // namespace millrace
