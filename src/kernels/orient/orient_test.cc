#include "src/kernels/orient/orient.h"

#include <utility>

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

TEST(Orient, EightDifferentPicturesOfAnL) {
  const std::vector<std::uint8_t> l = {1, 0, 1, 0, 1, 1};  // 2 wide, 3 high
  const std::vector<std::uint8_t> rotated_90 = {1, 1, 1, 1, 0, 0};
  EXPECT_EQ(oriented(l.data(), 2, 3, 1, Orientation::rotated_90), rotated_90);
  const std::vector<std::uint8_t> transposed = {1, 1, 1, 0, 0, 1};
  EXPECT_EQ(oriented(l.data(), 2, 3, 1, Orientation::transposed), transposed);
}

// Returns the source of the result's pixel (x, y), by TIFF 6.0's description of the stored first row and column.
std::pair<int, int> source(Orientation o, int x, int y, int width, int height) {
  switch (o) {
    case Orientation::upright:  // top, left
      return {x, y};
    case Orientation::mirrored:  // top, right
      return {width - 1 - x, y};
    case Orientation::rotated_180:  // bottom, right
      return {width - 1 - x, height - 1 - y};
    case Orientation::flipped:  // bottom, left
      return {x, height - 1 - y};
    case Orientation::transposed:  // left, top
      return {y, x};
    case Orientation::rotated_90:  // right, top
      return {y, height - 1 - x};
    case Orientation::transversed:  // right, bottom
      return {width - 1 - y, height - 1 - x};
    case Orientation::rotated_270:  // left, bottom
      return {width - 1 - y, x};
  }
  return {x, y};
}

TEST(Orient, EveryPixelFollowsTheDefinition) {
  constexpr int width = 7, height = 5;
  for (const int channels : {1, 2, 3, 4}) {
    const auto px = random_bytes(std::size_t{width} * height * static_cast<std::size_t>(channels), 2);
    for (const Orientation o : kOrientations) {
      const auto out = oriented(px.data(), width, height, channels, o);
      const int out_width = swaps_sides(o) ? height : width, out_height = swaps_sides(o) ? width : height;
      for (int y = 0; y < out_height; ++y) {
        for (int x = 0; x < out_width; ++x) {
          const auto [from_x, from_y] = source(o, x, y, width, height);
          for (int c = 0; c < channels; ++c) {
            ASSERT_EQ(out[static_cast<std::size_t>((y * out_width + x) * channels + c)],
                      px[static_cast<std::size_t>((from_y * width + from_x) * channels + c)])
                << static_cast<int>(o) << ": " << x << ", " << y;
          }
        }
      }
    }
  }
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
