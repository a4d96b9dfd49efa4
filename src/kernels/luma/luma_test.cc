#include "src/kernels/luma/luma.h"

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

TEST(Luma, EqualsTheDefinitionAtEveryLevelAndLength) {
  at_every_cpu_level([] {
    for (const std::size_t count : {0U, 1U, 15U, 16U, 63U, 64U, 65U, 1000U, 4001U}) {
      const auto rgb = random_bytes(3 * count, static_cast<unsigned>(count));
      std::vector<std::uint8_t> fast(count), slow(count);
      luma_from_rgb(rgb.data(), fast.data(), count);
      luma_from_rgb_reference(rgb.data(), slow.data(), count);
      EXPECT_EQ(fast, slow) << count;
    }
  });
}

TEST(Luma, GrayStaysItself) {
  at_every_cpu_level([] {
    std::vector<std::uint8_t> rgb, expected, luma(256);
    for (int v = 0; v < 256; ++v) {
      rgb.insert(rgb.end(), 3, static_cast<std::uint8_t>(v));
      expected.push_back(static_cast<std::uint8_t>(v));
    }
    luma_from_rgb(rgb.data(), luma.data(), 256);
    EXPECT_EQ(luma, expected);
  });
}

TEST(Luma, PrimariesAreThoseOfPillow) {
  // Image.new("RGB", (1, 1), colour).convert("L") in Pillow 13.0.0.
  const std::uint8_t rgb[] = {255, 0, 0, 0, 255, 0, 0, 0, 255};
  std::uint8_t luma[3];
  luma_from_rgb(rgb, luma, 3);
  EXPECT_EQ(luma[0], 76);
  EXPECT_EQ(luma[1], 150);
  EXPECT_EQ(luma[2], 29);
}

}  // namespace
}  // namespace millrace
