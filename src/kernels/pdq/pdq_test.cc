#include "src/kernels/pdq/pdq.h"

#include "src/kernels/kernel_test.h"

namespace millrace {
namespace {

// A picture with gradients at every scale, so that no bit depends on noise alone.
std::vector<std::uint8_t> picture(int width, int height, int channels, unsigned seed) {
  const auto noise = random_bytes(64, seed);
  std::vector<std::uint8_t> px;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int cell = y * 8 / height * 8 + x * 8 / width;
        px.push_back(
            static_cast<std::uint8_t>(noise[static_cast<std::size_t>(cell)] / 2 + x * 100 / width + (x * y + c) % 20));
      }
    }
  }
  return px;
}

TEST(Pdq, StreamingEqualsTheWholePicture) {
  struct Size {
    int width, height;
  };
  for (const auto [w, h] :
       {Size{5, 5}, {64, 64}, {63, 65}, {128, 128}, {129, 127}, {640, 480}, {300, 1100}, {1301, 77}}) {
    for (const int channels : {1, 3}) {
      const auto px = picture(w, h, channels, static_cast<unsigned>(w));
      const PdqHash expected = pdq_reference(px.data(), w, h, channels);
      for (const int step : {1, 16, h}) {
        PdqHasher hasher(w, h);
        for (int y = 0; y < h; y += step) {
          hasher.push(px.data() + static_cast<std::ptrdiff_t>(y) * w * channels, w * channels, std::min(step, h - y),
                      channels);
        }
        const PdqHash hash = hasher.finish();
        EXPECT_EQ(hash.bytes, expected.bytes) << w << " x " << h << ", " << step << " rows at once";
        EXPECT_EQ(hash.quality, expected.quality);
      }
    }
  }
}

TEST(Pdq, TooSmallOrFlatHasNoQuality) {
  const std::vector<std::uint8_t> flat(200 * 100, 90);
  EXPECT_EQ(pdq_reference(flat.data(), 200, 100, 1).quality, 0);
  PdqHasher tiny(4, 100);
  tiny.push(flat.data(), 4, 100, 1);
  EXPECT_EQ(tiny.finish().bytes, PdqHash{}.bytes);
}

TEST(Pdq, HalfItsBitsAreSet) {
  const auto px = picture(400, 300, 3, 9);
  const PdqHash hash = pdq_reference(px.data(), 400, 300, 3);
  int set = 0;
  for (const auto byte : hash.bytes) set += __builtin_popcount(byte);
  EXPECT_EQ(set, 128);
  EXPECT_GT(hash.quality, 20);
}

}  // namespace
}  // namespace millrace
