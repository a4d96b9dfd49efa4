#include "src/kernels/sliding_window/sliding_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace millrace::window {
namespace {

using ::testing::ElementsAre;

TEST(SlidingWindow, HowFarPixelsOfSixBytesLieApart) {
  const WindowAxis axis(4, 4, 0.5);
  std::vector<std::uint8_t> row(std::size_t{4} * kMaxPixelBytes, 7);
  row[kMaxPixelBytes + 5] = 30;
  const std::vector<const std::uint8_t*> rows(4, row.data());
  EXPECT_EQ(measure_spread(axis, axis, 0, 0, rows, 0, kMaxPixelBytes), 23);
}

TEST(SlidingWindow, ASmallMapIsEnlargedBetweenTheMiddlesOfItsPixels) {
  // Expected values are those of PyTorch's interpolate(scale_factor=2, mode="bilinear").
  const std::vector<float> small = {0, 1, 2, 3, /* another plane */ 8, 8, 8, 8};
  std::vector<float> out(32);
  enlarge(small, 4, 4, 2, out);
  EXPECT_THAT(std::vector<float>(out.begin(), out.begin() + 16),
              ElementsAre(0, 0.25, 0.75, 1, 0.5, 0.75, 1.25, 1.5, 1.5, 1.75, 2.25, 2.5, 2, 2.25, 2.75, 3));
  for (std::size_t i = 16; i < 32; ++i) EXPECT_EQ(out[i], 8);
  std::vector<float> same(small);
  enlarge(small, 2, 2, 1, same);
  EXPECT_EQ(same, small);
}

TEST(SlidingWindow, PlanesAreTurnedOverOneByOne) {
  const std::vector<float> planes = {1, 2, 3, 4, 5, 6, /* another */ 7, 8, 9, 10, 11, 12};
  const auto turned = [&planes](bool rows, bool columns) {
    std::vector<float> out = planes;
    flip(out, 2, 3, rows, columns);
    return out;
  };
  EXPECT_EQ(turned(false, false), planes);
  EXPECT_THAT(turned(true, false), ElementsAre(4, 5, 6, 1, 2, 3, 10, 11, 12, 7, 8, 9));
  EXPECT_THAT(turned(false, true), ElementsAre(3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10));
  EXPECT_THAT(turned(true, true), ElementsAre(6, 5, 4, 3, 2, 1, 12, 11, 10, 9, 8, 7));
}

TEST(SlidingWindow, WindowsLieAsMonaiLaysThem) {
  EXPECT_THAT(WindowAxis(1168, 512, 0.5).starts(), ElementsAre(0, 256, 512, 656));
  EXPECT_THAT(WindowAxis(1024, 512, 0.5).starts(), ElementsAre(0, 256, 512));
  EXPECT_THAT(WindowAxis(513, 512, 0.25).starts(), ElementsAre(0, 1));
  EXPECT_THAT(WindowAxis(512, 512, 0.9).starts(), ElementsAre(0));
  // int(10 * (1 - 0.9)) is 0 in floating point, and a step is at least 1.
  EXPECT_THAT(WindowAxis(13, 10, 0.9).starts(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(WindowAxis(13, 10, 0.0).starts(), ElementsAre(0, 3));
  // A side that is too small is padded on both sides, one more behind.
  const WindowAxis small(7, 10, 0.5);
  EXPECT_THAT(small.starts(), ElementsAre(0));
  EXPECT_EQ(small.padded(), 10);
  EXPECT_EQ(small.before(), 1);
}

TEST(SlidingWindow, PaddingIsNumPys) {
  const WindowAxis axis(4, 9, 0.5);  // a b c d, two before, three behind
  const auto all = [&](Padding padding) {
    std::vector<std::int64_t> out;
    for (std::int64_t k = 0; k < 9; ++k) out.push_back(axis.source(k, padding));
    return out;
  };
  EXPECT_THAT(all(Padding::constant), ElementsAre(-1, -1, 0, 1, 2, 3, -1, -1, -1));
  EXPECT_THAT(all(Padding::replicate), ElementsAre(0, 0, 0, 1, 2, 3, 3, 3, 3));
  EXPECT_THAT(all(Padding::reflect), ElementsAre(2, 1, 0, 1, 2, 3, 2, 1, 0));
  EXPECT_THAT(all(Padding::circular), ElementsAre(2, 3, 0, 1, 2, 3, 0, 1, 2));
  EXPECT_TRUE(axis.can_pad(Padding::reflect));
  EXPECT_FALSE(WindowAxis(3, 9, 0.5).can_pad(Padding::reflect));  // three behind, and only two to mirror
  EXPECT_TRUE(WindowAxis(3, 9, 0.5).can_pad(Padding::circular));
  EXPECT_FALSE(WindowAxis(2, 9, 0.5).can_pad(Padding::circular));
  EXPECT_TRUE(WindowAxis(1, 9, 0.5).can_pad(Padding::replicate));
}

TEST(SlidingWindow, WeightsAreMonais) {
  // exp(-(i - 3.5)^2 / 2) of a window of 8; the corner's product is below the least.
  const WindowWeights gaussian(Importance::gaussian, 8, 8);
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(gaussian.row(i), std::exp(-std::pow(static_cast<double>(i) - 3.5, 2) / 2), 1e-7);
  EXPECT_EQ(gaussian.least(), 1e-3F);
  const WindowWeights flat(Importance::constant, 8, 8);
  EXPECT_EQ(flat.row(0), 1);
  EXPECT_EQ(flat.least(), 1);
}

// Blends all at once, by the definition, without the windows of `left_out`.
std::vector<double> blended(const WindowAxis& y, const WindowAxis& x, std::size_t channels, Importance importance,
                            const std::vector<std::vector<float>>& results, const std::vector<bool>& left_out) {
  const WindowWeights weights(importance, y.window(), x.window());
  const auto plane = static_cast<std::size_t>(y.padded() * x.padded());
  std::vector<double> sum(plane * channels), divisor(plane), out;
  std::size_t k = 0;
  for (const std::int64_t top : y.starts()) {
    for (const std::int64_t left : x.starts()) {
      const std::vector<float>& result = results[k];
      if (left_out[k++]) continue;
      for (std::int64_t i = 0; i < y.window(); ++i) {
        for (std::int64_t j = 0; j < x.window(); ++j) {
          const double weight =
              std::max(weights.row(static_cast<std::size_t>(i)) * weights.columns()[j], weights.least());
          const auto at = static_cast<std::size_t>((top + i) * x.padded() + left + j);
          divisor[at] += weight;
          for (std::size_t c = 0; c < channels; ++c) {
            sum[c * plane + at] +=
                weight *
                static_cast<double>(
                    result[static_cast<std::size_t>((static_cast<std::int64_t>(c) * y.window() + i) * x.window() + j)]);
          }
        }
      }
    }
  }
  for (std::int64_t i = 0; i < y.size(); ++i) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::int64_t j = 0; j < x.size(); ++j) {
        const auto at = static_cast<std::size_t>((i + y.before()) * x.padded() + j + x.before());
        out.push_back(divisor[at] > 0 ? sum[c * plane + at] / divisor[at] : 0);
      }
    }
  }
  return out;
}

TEST(SlidingWindow, RowsAreWhatTheWholeImageWouldBe) {
  struct Case {
    std::int64_t height, width, window_height, window_width;
    double overlap;
  };
  for (const Case& of : {Case{37, 53, 16, 16, 0.5}, Case{16, 16, 16, 16, 0.5}, Case{9, 40, 16, 16, 0.25},
                         Case{40, 9, 16, 12, 0.0}, Case{5, 5, 16, 16, 0.5}, Case{33, 31, 8, 8, 0.875}}) {
    for (const Importance importance : {Importance::gaussian, Importance::constant}) {
      for (const int missing : {0, 3}) {
        const WindowAxis y(of.height, of.window_height, of.overlap), x(of.width, of.window_width, of.overlap);
        constexpr std::size_t kChannels = 2;
        std::mt19937 random(7);
        std::uniform_real_distribution<float> values(-5, 5);
        std::vector<std::vector<float>> results(
            y.starts().size() * x.starts().size(),
            std::vector<float>(kChannels * static_cast<std::size_t>(of.window_height * of.window_width)));
        std::vector<bool> left_out(results.size());
        for (std::size_t k = 0; k < results.size(); ++k) {
          for (float& value : results[k]) value = values(random);
          left_out[k] = missing > 0 && k % static_cast<std::size_t>(missing) == 1;
        }
        const std::vector<double> expected = blended(y, x, kChannels, importance, results, left_out);
        WindowBlender blend(y, x, kChannels, importance);
        std::vector<float> got, row(kChannels * static_cast<std::size_t>(of.width));
        std::int64_t next = 0;
        for (std::size_t k = 0; k < y.starts().size(); ++k) {
          for (std::size_t w = 0; w < x.starts().size(); ++w) {
            const std::size_t at = k * x.starts().size() + w;
            if (!left_out[at]) blend.add(k, w, results[at].data());
          }
          for (; next < of.height && next + y.before() < blend.complete_rows_before(k + 1); ++next) {
            blend.take_row(next, row.data());
            got.insert(got.end(), row.begin(), row.end());
          }
        }
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], expected[k], 4e-6) << k;
      }
    }
  }
}

TEST(SlidingWindow, WindowsHoldThePixelsThatLieThere) {
  const WindowAxis y(6, 4, 0.5), x(3, 4, 0.5);  // padded by one column on the right
  std::vector<std::uint8_t> image(6 * 3 * 3);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<std::uint8_t>(k);
  std::vector<LevelTable> levels(3);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t v = 0; v < 256; ++v) levels[c].of[v] = static_cast<float>(1000 * c + v);
  const std::vector<std::size_t> order = {2, 1, 0};
  std::vector<const std::uint8_t*> rows;
  // A band that begins at the image's third row.
  for (std::size_t r = 2; r < 6; ++r) rows.push_back(image.data() + r * 9);
  std::vector<float> out(3 * 4 * 4);
  gather_window(y, x, 1, 0, Padding::reflect, rows, 2, 3, order, levels, out.data());
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t column = j < 3 ? j : 1;
        EXPECT_EQ(out[(c * 4 + i) * 4 + j], static_cast<float>(1000 * c + (((i + 2) * 3 + column) * 3 + 2 - c)));
      }
    }
  }
  gather_window(y, x, 1, 0, Padding::constant, rows, 2, 3, order, levels, out.data());
  EXPECT_EQ(out[3], 0);  // not what a black pixel would be
}

TEST(SlidingWindow, LabelsAreTheLikeliest) {
  const auto labels = [](const std::vector<float>& row, const std::vector<float>& weights, std::optional<float> least) {
    std::vector<std::uint8_t> out(weights.size(), 77);
    label(row, weights, least, out);
    return out;
  };
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(labels({0.4F, 0.5F, 0.9F, none}, {1, 1, 0, 1}, 0.5F), (std::vector<std::uint8_t>{0, 1, 0, 0}));
  EXPECT_EQ(labels({1, 2, 3, 3, 1, 2, 4, 9}, {1, 1, 1, 0}, {}), (std::vector<std::uint8_t>{0, 0, 1, 0}));
  EXPECT_EQ(labels({1, 2, 3, 3, 1, 2, 4, 9}, {1, 1, 1, 0}, 2.0F), (std::vector<std::uint8_t>{0, 1, 2, 0}));
}

TEST(SlidingWindow, ActivationsAreTheirDefinitions) {
  std::vector<float> values;
  for (int k = -325; k < 325; ++k) values.push_back(0.37F * static_cast<float>(k));
  std::vector<float> got = values;
  sigmoid(got);
  for (std::size_t k = 0; k < got.size(); ++k) {
    EXPECT_NEAR(got[k], 1 / (1 + std::exp(-static_cast<double>(values[k]))), 2e-7) << values[k];
    EXPECT_GE(got[k], 0);
    EXPECT_LE(got[k], 1);
  }
  EXPECT_EQ(std::vector<float>({0.5F}), [] {
    std::vector<float> zero = {0};
    sigmoid(zero);
    return zero;
  }());
  std::vector<float> three = {0, 90, -1, 1, 2, -200, 5, -90, 7};
  const std::vector<float> before = three;
  softmax(three, 3);
  for (std::size_t j = 0; j < 3; ++j) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::exp(static_cast<double>(before[c * 3 + j]) - 90);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(three[c * 3 + j], std::exp(static_cast<double>(before[c * 3 + j]) - 90) / sum, 3e-7);
  }
}

}  // namespace
}  // namespace millrace::window
