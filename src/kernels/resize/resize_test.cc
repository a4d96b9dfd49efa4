#include "src/kernels/resize/resize.h"

#include <algorithm>

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

struct Sizes {
  int width, height, out_width, out_height;
};

std::vector<std::uint8_t> resized(const std::vector<std::uint8_t>& in, Sizes s, int rows_at_once) {
  Resizer resizer(s.width, s.height, s.out_width, s.out_height);
  for (int y = 0; y < s.height; y += rows_at_once) {
    resizer.push(in.data() + static_cast<std::ptrdiff_t>(y) * s.width, s.width, std::min(rows_at_once, s.height - y));
  }
  const std::uint8_t* out = resizer.result();
  return {out, out + static_cast<std::ptrdiff_t>(s.out_width) * s.out_height};
}

class ResizeSizes : public ::testing::TestWithParam<Sizes> {};

TEST_P(ResizeSizes, EqualsTheDefinitionAtEveryLevel) {
  const Sizes s = GetParam();
  const auto in = random_bytes(static_cast<std::size_t>(s.width) * static_cast<std::size_t>(s.height), 7);
  const auto expected = resize_reference(in.data(), s.width, s.width, s.height, s.out_width, s.out_height);
  at_every_cpu_level([&] {
    for (const int rows : {1, 5, 16, s.height}) EXPECT_EQ(resized(in, s, rows), expected) << rows << " rows at once";
  });
}

INSTANTIATE_TEST_SUITE_P(All, ResizeSizes,
                         ::testing::Values(Sizes{640, 480, 8, 8}, Sizes{640, 480, 9, 8}, Sizes{333, 517, 32, 32},
                                           Sizes{301, 999, 8, 8}, Sizes{1000, 40, 32, 32}, Sizes{40, 1000, 32, 32},
                                           Sizes{3, 2000, 9, 8}, Sizes{2000, 3, 9, 8}, Sizes{1, 1, 8, 8},
                                           Sizes{1, 7, 9, 8}, Sizes{7, 1, 32, 32}, Sizes{8, 8, 8, 8},
                                           Sizes{8, 100, 8, 8}, Sizes{100, 8, 8, 8}, Sizes{700, 600, 512, 512},
                                           Sizes{513, 1029, 512, 512}, Sizes{12, 9, 32, 32}, Sizes{4000, 17, 8, 8},
                                           Sizes{17, 4000, 8, 8}, Sizes{65, 33, 64, 32}));

TEST(Resize, AConstantPictureStaysConstant) {
  at_every_cpu_level([] {
    for (const int level : {0, 1, 127, 254, 255}) {
      const auto value = static_cast<std::uint8_t>(level);
      const std::vector<std::uint8_t> in(611 * 407, value);
      const auto out = resized(in, {611, 407, 32, 32}, 16);
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [&](std::uint8_t v) { return v == value; }));
    }
  });
}

TEST(Resize, OrderOfPassesFollowsPillow13) {
  EXPECT_FALSE(vertical_pass_first(640, 480, 8, 8));
  EXPECT_FALSE(vertical_pass_first(100, 192, 8, 8));  // 184 is not more than 2 * 92
  EXPECT_TRUE(vertical_pass_first(100, 193, 8, 8));
  EXPECT_FALSE(vertical_pass_first(4, 8, 8, 8));
  EXPECT_TRUE(vertical_pass_first(4, 9, 8, 8));
}

}  // namespace
}  // namespace millrace
