#include "src/kernels/hash_quality/hash_quality.h"

#include <array>

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

using Luma = std::array<std::uint8_t, kQualitySide * kQualitySide>;

// A picture with one level in the left half and another in the right half.
Luma halves(int left, int right) {
  Luma out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(i % kQualitySide < kQualitySide / 2 ? left : right);
  }
  return out;
}

Luma turned(const Luma& luma) {
  Luma out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = luma[i % kQualitySide * kQualitySide + i / kQualitySide];
  return out;
}

// 32 pairs of neighbours differ, by as many levels: 32 (100 d / 255) / 45, each division rounded towards zero.
TEST(HashQuality, AnEdgeCountsByItsHeight) {
  for (const auto& [step, quality] : {std::pair(2, 0), std::pair(3, 0), std::pair(6, 1), std::pair(64, 17),
                                      std::pair(128, 35), std::pair(200, 55), std::pair(255, 71)}) {
    EXPECT_EQ(gradient_quality(halves(0, step).data()), quality) << step;
    EXPECT_EQ(gradient_quality(halves(step, 0).data()), quality) << step;
    EXPECT_EQ(gradient_quality(turned(halves(255 - step, 255)).data()), quality) << step;
  }
}

TEST(HashQuality, AFlatPictureIsBelowTheGate) {
  EXPECT_EQ(gradient_quality(halves(200, 200).data()), 0);
  EXPECT_LE(gradient_quality(halves(10, 180).data()), kQualityGate);
  // A slope so soft that no pair differs by a hundredth.
  Luma slope{};
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = static_cast<std::uint8_t>(100 + 2 * (i % kQualitySide));
  EXPECT_EQ(gradient_quality(slope.data()), 0);
}

TEST(HashQuality, AChequerboardIsAllThatThereCanBe) {
  Luma luma{};
  for (std::size_t i = 0; i < luma.size(); ++i) luma[i] = (i % kQualitySide + i / kQualitySide) % 2 == 0 ? 0 : 255;
  EXPECT_EQ(gradient_quality(luma.data()), 100);
}

TEST(HashQuality, TurningChangesNothing) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto bytes = random_bytes(kQualitySide * kQualitySide, seed);
    Luma luma{};
    for (std::size_t i = 0; i < luma.size(); ++i) luma[i] = static_cast<std::uint8_t>(bytes[i] / (1 + seed));
    EXPECT_EQ(gradient_quality(luma.data()), gradient_quality(turned(luma).data())) << seed;
  }
}

}  // namespace
}  // namespace millrace
