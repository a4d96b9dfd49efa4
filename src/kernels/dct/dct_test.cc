#include "src/kernels/dct/dct.h"

#include <cmath>

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

TEST(Dct, FollowsTheFormula) {
  const int n = 12;
  const auto pixels = random_bytes(n * n, 3);
  const auto low = dct_low(pixels.data(), n, 5);
  for (int v = 0; v < 5; ++v) {
    for (int u = 0; u < 5; ++u) {
      double sum = 0;
      for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x) {
          sum += 4.0 * pixels[static_cast<std::size_t>(y * n + x)] * std::cos(M_PI * u * (2 * x + 1) / (2.0 * n)) *
                 std::cos(M_PI * v * (2 * y + 1) / (2.0 * n));
        }
      }
      EXPECT_NEAR(low[static_cast<std::size_t>(v * 5 + u)], sum, 1e-8);
    }
  }
}

TEST(Dct, AFlatPictureHasOnlyItsMean) {
  const std::vector<std::uint8_t> flat(32 * 32, 200);
  const auto low = dct_low(flat.data(), 32, 8);
  EXPECT_NEAR(low[0], 4.0 * 200 * 32 * 32, 1e-6);
  for (std::size_t i = 1; i < low.size(); ++i) EXPECT_EQ(low[i], 0.0);
}

TEST(Dct, AMirroredPictureHasNoOddFrequencies) {
  auto pixels = random_bytes(32 * 32, 5);
  for (std::size_t y = 0; y < 32; ++y) {
    for (std::size_t x = 0; x < 16; ++x) pixels[y * 32 + 31 - x] = pixels[y * 32 + x];
  }
  const auto low = dct_low(pixels.data(), 32, 8);
  for (std::size_t v = 0; v < 8; ++v) {
    for (std::size_t u = 1; u < 8; u += 2) EXPECT_EQ(low[v * 8 + u], 0.0);
  }
}

}  // namespace
}  // namespace millrace
