#include "src/kernels/haar/haar.h"

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

TEST(Haar, WholeNumbersDecideAsTheTransformDoes) {
  for (const int side : {8, 16, 64, 256}) {
    for (const int size : {2, 4, 8}) {
      for (unsigned seed = 0; seed < 20; ++seed) {
        const auto pixels = random_bytes(static_cast<std::size_t>(side * side), seed);
        EXPECT_EQ(haar_bits(pixels.data(), side, size), haar_bits_reference(pixels.data(), side, size));
      }
    }
  }
}

TEST(Haar, HalfBrightHalfDarkSplitsInTheMiddle) {
  std::vector<std::uint8_t> pixels(64 * 64, 10);
  std::fill(pixels.begin() + 32 * 64, pixels.end(), std::uint8_t{200});
  const auto bits = haar_bits(pixels.data(), 64, 8);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(bits[i], i >= 32 ? 1 : 0);
}

}  // namespace
}  // namespace millrace
