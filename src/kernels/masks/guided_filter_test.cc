#include "src/kernels/masks/guided_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace millrace::masks {
namespace {

constexpr std::int32_t kWidth = 96, kHeight = 64;

struct Scene {
  std::vector<std::uint8_t> luma = std::vector<std::uint8_t>(kWidth * kHeight);
  std::vector<std::uint16_t> mask = std::vector<std::uint16_t>(kWidth * kHeight);
};

// A bright disc before a dark ground, and a mask of it that is a few pixels off.
Scene scene(int off) {
  Scene out;
  std::mt19937 random(3);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const std::size_t at = static_cast<std::size_t>(y * kWidth + x);
      out.luma[at] = static_cast<std::uint8_t>((std::hypot(x - 48, y - 32) < 20 ? 200 : 40) + random() % 4);
      out.mask[at] = std::hypot(x - 48 - off, y - 32) < 20 ? kOne : 0;
    }
  }
  return out;
}

int wrong(const std::vector<std::uint16_t>& mask) {
  int out = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      out += (mask[static_cast<std::size_t>(y * kWidth + x)] >= kOne / 2) != (std::hypot(x - 48, y - 32) < 20) ? 1 : 0;
  return out;
}

TEST(GuideImage, MovesAnEdgeToThePicturesOwn) {
  Scene of = scene(4);
  const int before = wrong(of.mask);
  GuideWorkspace workspace;
  guide(of.mask.data(), kWidth, kHeight, {of.luma.data(), kWidth, 8}, 16, 0.05, workspace);
  EXPECT_LT(wrong(of.mask), before / 4) << before;
}

TEST(GuideImage, LeavesWhatIsFlatAsItIs) {
  const std::vector<std::uint8_t> luma(kWidth * kHeight, 90);
  GuideWorkspace workspace;
  for (const std::uint16_t value : {std::uint16_t{0}, std::uint16_t{5000}, kOne}) {
    std::vector<std::uint16_t> mask(kWidth * kHeight, value);
    guide(mask.data(), kWidth, kHeight, {luma.data(), kWidth, 8}, 12, 0.05, workspace);
    for (const std::uint16_t one : mask) EXPECT_NEAR(one, value, 2);
  }
}

TEST(GuideImage, IsTheSameOfMoreBits) {
  Scene of = scene(3);
  std::vector<std::uint16_t> deep(of.luma.size()), mask = of.mask;
  for (std::size_t i = 0; i < deep.size(); ++i) deep[i] = static_cast<std::uint16_t>(of.luma[i] * 4);
  GuideWorkspace workspace;
  guide(of.mask.data(), kWidth, kHeight, {of.luma.data(), kWidth, 8}, 12, 0.05, workspace);
  guide(mask.data(), kWidth, kHeight, {reinterpret_cast<const std::uint8_t*>(deep.data()), 2 * kWidth, 10}, 12, 0.05,
        workspace);
  // A value of 255 in 8 bits is 65535 in 16, and 1020 in 10 is 65280.
  for (std::size_t i = 0; i < mask.size(); ++i) EXPECT_NEAR(mask[i], of.mask[i], 0.02 * kOne);
}

TEST(GuideImage, ReadsNoPixelThatIsNotThere) {
  GuideWorkspace workspace;
  for (const auto& [width, height] : {std::pair(1, 1), {3, 2}, {5, 9}, {17, 4}}) {
    const std::vector<std::uint8_t> luma(static_cast<std::size_t>(width * height), 7);
    std::vector<std::uint16_t> mask(luma.size(), kOne);
    guide(mask.data(), width, height, {luma.data(), static_cast<std::size_t>(width), 8}, 40, 0.1, workspace);
    for (const std::uint16_t one : mask) EXPECT_NEAR(one, kOne, 2);
  }
}

}  // namespace
}  // namespace millrace::masks
