// Tests the coarse search against its definition, over pictures that are related in every way that it searches for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/kernels/kernel_test.h"
#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {
namespace {

// Place of the thumbnail's [0, 1] in the scene, a plain frame around it, and a change of its levels.
struct FramedView {
  float left = 0, top = 0, right = 1, bottom = 1;
  int frame = 0;
  float gain = 1, bias = 0;
};

// Renders a scene of 9 x 9 levels, linear between them.
Thumbnail shown(unsigned seed, const FramedView& view) {
  const std::vector<std::uint8_t> levels = random_bytes(81, seed);
  Thumbnail out;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const float u =
          8 * std::clamp(view.left + (view.right - view.left) * (static_cast<float>(x) + 0.5F) / kSide, 0.0F, 1.0F);
      const float v =
          8 * std::clamp(view.top + (view.bottom - view.top) * (static_cast<float>(y) + 0.5F) / kSide, 0.0F, 1.0F);
      const int iu = std::min(7, static_cast<int>(u)), iv = std::min(7, static_cast<int>(v));
      const auto at = [&](int i, int j) { return static_cast<float>(levels.data()[9 * (iv + j) + iu + i]); };
      const float fu = u - static_cast<float>(iu), fv = v - static_cast<float>(iv);
      const float level = (1 - fv) * ((1 - fu) * at(0, 0) + fu * at(1, 0)) + fv * ((1 - fu) * at(0, 1) + fu * at(1, 1));
      const bool framed = std::min({x, y, kSide - 1 - x, kSide - 1 - y}) < view.frame;
      const float value = framed ? 255.0F : std::clamp(view.gain * level + view.bias, 0.0F, 255.0F);
      for (int c = 0; c < 3; ++c) out.data()[(y * kSide + x) * 3 + c] = static_cast<std::uint8_t>(value);
    }
  }
  return out;
}

std::vector<Features> pictures() {
  std::vector<Features> out;
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    for (const FramedView& view :
         {FramedView{}, FramedView{.left = 0.05F, .top = 0.05F, .right = 0.95F, .bottom = 0.95F},
          FramedView{.left = 0.07F, .bottom = 0.96F}, FramedView{.left = -0.05F, .right = 1.02F, .bottom = 0.9F},
          FramedView{.frame = 6}, FramedView{.frame = 3, .gain = 0.5F}, FramedView{.gain = -1, .bias = 255},
          FramedView{.gain = 0.02F, .bias = 240}, FramedView{.right = 0.7F, .gain = 1.3F}})
      out.push_back(features_of(shown(seed, view)));
  }
  return out;
}

TEST(SimilarityCoarse, AsItIsDefined) {
  const std::vector<Features> all = pictures();
  for (const Features& a : all) {
    for (const Features& b : all) {
      const CoarseMatch expected = search_coarsely_reference(a, b);
      const CoarseMatch first = search_coarsely(a, b);
      // Hypotheses that fit equally well may be exchanged.
      ASSERT_NEAR(first.correlation, expected.correlation, 2e-4F);
      at_every_cpu_level([&] {
        const CoarseMatch again = search_coarsely(a, b);
        EXPECT_EQ(again.correlation, first.correlation);
        EXPECT_EQ(again.warp.m, first.warp.m);
      });
    }
  }
}

TEST(SimilarityCoarse, FindsWhatWasMoved) {
  const Features whole = features_of(shown(7, {}));
  const Features part = features_of(shown(7, {.left = 0.06F, .right = 0.98F}));
  const CoarseMatch found = search_coarsely(whole, part);
  EXPECT_GT(found.correlation, 0.97F);
  EXPECT_LT(search_coarsely(whole, features_of(shown(7, {.gain = -1, .bias = 255}))).correlation, -0.99F);
  const Features framed =
      features_of(shown(7, {.left = -0.125F, .top = -0.125F, .right = 1.125F, .bottom = 1.125F, .frame = 6}));
  EXPECT_GT(search_coarsely(whole, framed).correlation, 0.8F);
}

}  // namespace
}  // namespace millrace::similarity
