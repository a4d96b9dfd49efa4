#include "src/kernels/masks/masks.h"

#include <cmath>
#include <limits>

#include "src/kernels/kernel_test.h"

namespace millrace::masks {
namespace {

std::vector<std::uint16_t> random_mask(std::size_t count, unsigned seed) {
  const auto bytes = random_bytes(2 * count, seed);
  std::vector<std::uint16_t> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::uint16_t>((bytes[2 * i] << 8 | bytes[2 * i + 1]) % (kOne + 1));
  // Both extremes occur often.
  for (std::size_t i = 0; i < count; i += 7) out[i] = i % 2 == 0 ? 0 : kOne;
  return out;
}

constexpr std::size_t kCounts[] = {0, 1, 7, 15, 16, 31, 32, 63, 65, 1000, 4001};

TEST(Masks, RowsAreMixedAsDefinedAtEveryLevel) {
  at_every_cpu_level([] {
    for (const std::size_t count : kCounts) {
      const auto a = random_mask(count, 1), b = random_mask(count, 2);
      for (const int w : {0, 1, 5000, kOne - 1}) {
        std::vector<std::uint16_t> fast(count), slow(count);
        mix(a.data(), b.data(), static_cast<std::uint16_t>(w), fast.data(), count);
        mix_reference(a.data(), b.data(), static_cast<std::uint16_t>(w), slow.data(), count);
        EXPECT_EQ(fast, slow);
      }
    }
  });
}

TEST(Masks, PicturesAreBlendedAsDefinedAtEveryLevel) {
  at_every_cpu_level([] {
    for (const std::size_t count : kCounts) {
      const auto mask = random_mask(count, 3);
      auto back = random_bytes(count, 4), front = random_bytes(count, 5);
      for (std::size_t i = 0; i < count; i += 3) back[i] = i % 2 == 0 ? 0 : 255, front[i] = 255 - back[i];
      std::vector<std::uint8_t> fast(count), slow(count);
      blend(back.data(), front.data(), mask.data(), fast.data(), count);
      blend_reference(back.data(), front.data(), mask.data(), slow.data(), count);
      EXPECT_EQ(fast, slow);
      for (const int shift : {0, 2, 6}) {
        std::vector<std::uint16_t> deep_back(count), deep_front(count), deep_fast(count), deep_slow(count);
        for (std::size_t i = 0; i < count; ++i) {
          deep_back[i] = static_cast<std::uint16_t>((back[i] * 257) >> shift);
          deep_front[i] = static_cast<std::uint16_t>((front[i] * 257) >> shift);
        }
        blend(deep_back.data(), deep_front.data(), mask.data(), deep_fast.data(), count);
        blend_reference(deep_back.data(), deep_front.data(), mask.data(), deep_slow.data(), count);
        EXPECT_EQ(deep_fast, deep_slow);
      }
    }
  });
}

TEST(Masks, NothingAndAllOfAMaskChangeNoPixel) {
  std::vector<std::uint8_t> back(256), front(256), out(256);
  for (std::size_t i = 0; i < 256; ++i)
    back[i] = static_cast<std::uint8_t>(i), front[i] = static_cast<std::uint8_t>(99 * i);
  const std::vector<std::uint16_t> none(256, 0), all(256, kOne);
  blend(back.data(), front.data(), none.data(), out.data(), 256);
  EXPECT_EQ(out, back);
  blend(back.data(), front.data(), all.data(), out.data(), 256);
  EXPECT_EQ(out, front);
}

TEST(Masks, ProbabilitiesAreRoundedAndWhatIsNoneIsNothing) {
  const float given[] = {0,
                         1,
                         0.5F,
                         1.5F,
                         -2,
                         1 / 32768.0F,
                         0.9999F,
                         std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity()};
  const std::vector<std::uint16_t> wanted = {0, kOne, kOne / 2, kOne, 0, 1, 16382, 0, kOne};
  std::vector<std::uint16_t> mask(wanted.size());
  from_probabilities(given, mask.data(), mask.size());
  EXPECT_EQ(mask, wanted);
}

// Samples in floating point, as PyTorch's interpolate(align_corners=False) is defined.
double sampled(const std::vector<std::uint16_t>& mask, int width, int height, double x, double y) {
  const auto at = [&](int i, int j) {
    i = std::clamp(i, 0, width - 1), j = std::clamp(j, 0, height - 1);
    return static_cast<double>(mask[static_cast<std::size_t>(j * width + i)]);
  };
  const double fx = std::floor(x), fy = std::floor(y), wx = x - fx, wy = y - fy;
  const int i = static_cast<int>(fx), j = static_cast<int>(fy);
  return (at(i, j) * (1 - wx) + at(i + 1, j) * wx) * (1 - wy) + (at(i, j + 1) * (1 - wx) + at(i + 1, j + 1) * wx) * wy;
}

TEST(Masks, IsEnlargedBilinearly) {
  struct Case {
    int from_width, from_height, to_width, to_height;
  };
  for (const Case& of : {Case{5, 3, 37, 29}, {256, 256, 1920, 13}, {1, 1, 8, 8}, {7, 7, 7, 7}, {9, 12, 5, 4}}) {
    const auto mask = random_mask(static_cast<std::size_t>(of.from_width * of.from_height), 8);
    Enlarger enlarger(of.from_width, of.from_height, of.to_width, of.to_height);
    enlarger.begin(mask.data());
    std::vector<std::uint16_t> row(static_cast<std::size_t>(of.to_width));
    for (int y = 0; y < of.to_height; ++y) {
      enlarger.row(y, row.data());
      for (int x = 0; x < of.to_width; ++x) {
        const double wanted =
            sampled(mask, of.from_width, of.from_height, (x + 0.5) * of.from_width / of.to_width - 0.5,
                    (y + 0.5) * of.from_height / of.to_height - 0.5);
        ASSERT_NEAR(row[static_cast<std::size_t>(x)], wanted, 3) << x << " " << y;
      }
    }
  }
}

TEST(Masks, ChromaHasTheMeanOfWhatItCovers) {
  const std::vector<std::uint16_t> above = {0, 4, 8, kOne, 10}, below = {1, 3, kOne, kOne, 21};
  std::vector<std::uint16_t> out(5);
  shrink(above.data(), below.data(), 2, out.data(), 5);
  EXPECT_EQ(std::vector<std::uint16_t>(out.begin(), out.begin() + 3),
            (std::vector<std::uint16_t>{2, (8 + 3 * kOne + 2) / 4, 16}));
  shrink(above.data(), below.data(), 1, out.data(), 5);
  EXPECT_EQ(out, (std::vector<std::uint16_t>{1, 4, (8 + kOne + 1) / 2, kOne, 16}));
  shrink(above.data(), above.data(), 4, out.data(), 5);
  EXPECT_EQ(out[0], (2 * (0 + 4 + 8 + kOne) + 4) / 8);
  EXPECT_EQ(out[1], 10);
}

}  // namespace
}  // namespace millrace::masks
