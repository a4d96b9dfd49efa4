#include "src/kernels/orient/orient.h"

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

TEST(Orient, EightDifferentPicturesOfAnL) {
  const std::vector<std::uint8_t> l = {1, 0, 1, 0, 1, 1};  // 2 wide, 3 high
  const std::vector<std::uint8_t> turned_90 = {1, 1, 1, 1, 0, 0};
  EXPECT_EQ(oriented(l.data(), 2, 3, 1, Orientation::turned_90), turned_90);
  const std::vector<std::uint8_t> transposed = {1, 1, 1, 0, 0, 1};
  EXPECT_EQ(oriented(l.data(), 2, 3, 1, Orientation::transposed), transposed);
}

TEST(Orient, TheInverseUndoesIt) {
  const auto px = random_bytes(7 * 5 * 3, 1);
  for (const Orientation o : kOrientations) {
    const auto there = oriented(px.data(), 7, 5, 3, o);
    const bool swapped = swaps_sides(o);
    EXPECT_EQ(oriented(there.data(), swapped ? 5 : 7, swapped ? 7 : 5, 3, inverse(o)), px);
  }
}

}  // namespace
}  // namespace millrace
