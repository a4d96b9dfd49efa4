#include "src/kernels/closelook/closelook.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/kernels/closelook/closelook_scene_for_test.h"
#include "src/kernels/closelook/closelook_steps.h"
#include "src/kernels/kernel_test.h"

namespace millrace::closelook {
namespace {

Verdict compare(const Raster& a, const Raster& b, const std::optional<std::array<float, 6>>& start = {}) {
  return Looker().compare(Prepared(a), Prepared(b), start);
}

TEST(CloseLook, BlurEqualsItsReferenceAtEveryLevel) {
  for (const auto& size : {std::pair{1, 1}, {3, 70}, {16, 16}, {37, 5}, {130, 67}}) {
    const int w = size.first, h = size.second;
    Plane from, fast, slow;
    from.size(w, h);
    const auto bytes = random_bytes(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), 3);
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) from.row(y)[x] = bytes[static_cast<std::size_t>(y * w + x)];
    }
    for (const double sigma : {0.8, 1.0, 2.0, 4.0, 5.0}) {
      blur_reference(from, sigma, slow);
      at_every_cpu_level([&] {
        blur(from, sigma, fast);
        for (int y = 0; y < h; ++y)
          ASSERT_EQ(std::memcmp(fast.row(y), slow.row(y), sizeof(float) * static_cast<std::size_t>(w)), 0)
              << w << sigma;
      });
    }
  }
}

TEST(CloseLook, AffinesTakePixelsWhereTheySay) {
  Affine a;
  a.m = {1.1, 0.2, 3, -0.1, 0.9, -2};
  const Affine back = then(a, a.inverse());
  EXPECT_NEAR(back.u(5, 7), 5, 1e-9);
  EXPECT_NEAR(back.v(5, 7), 7, 1e-9);
  // Twice as many pixels on both sides: the same places.
  const Affine fine = a.rescaled(2, 2, 2, 2);
  EXPECT_NEAR((fine.u(2 * 5 + 0.5, 2 * 7 + 0.5) - 0.5) / 2, a.u(5, 7), 1e-9);
}

TEST(CloseLook, WhatCopyingDoesIsTheSame) {
  const Scene scene(5);
  const Raster original = show(scene, {});
  const std::vector<std::pair<const char*, Shown>> copies = {
      {"noise", {.noise = 8}},
      {"half the size", {.width = 320, .height = 240}},
      {"larger", {.width = 960, .height = 720}},
      {"brighter, less contrast", {.gain = 0.93F, .bias = 12}},
      {"a frame", {.frame = 20}},
      {"a crop", {.width = 600, .height = 450, .left = 0.03F, .top = 0.02F, .right = 0.97F, .bottom = 0.725F}},
  };
  for (const auto& [what, shown] : copies) {
    const Verdict verdict = compare(original, show(scene, shown));
    EXPECT_EQ(verdict.kind, Kind::same) << what << " " << verdict.excess;
    EXPECT_EQ(verdict.contained, std::strcmp(what, "a crop") == 0 ? Contained::second : Contained::both) << what;
  }
}

TEST(CloseLook, ASmallMarkIsFoundWhereItIs) {
  for (const unsigned seed : {5U, 6U, 7U}) {
    const Scene scene(seed);
    const Raster original = show(scene, {});
    const Shown marked{.noise = 4, .dot_x = 0.3F, .dot_y = 0.5F, .dot = 1.0F / 120};
    const Verdict verdict = compare(original, show(scene, marked));
    ASSERT_EQ(verdict.kind, Kind::altered) << seed;
    const auto& [left, top, right, bottom] = verdict.first_place;
    EXPECT_LT(left, 0.3F);
    EXPECT_GT(right, 0.3F);
    EXPECT_LT(top, 0.5F / 0.75F);
    EXPECT_GT(bottom, 0.5F / 0.75F);
    EXPECT_LT((right - left) * (bottom - top), 0.05F) << "and not everywhere";
  }
}

TEST(CloseLook, ShowsWhichIsAPartAndWhichIsBeside) {
  const Scene scene(8);
  const Raster left = show(scene, {.width = 560, .right = 0.875F});
  const Raster right = show(scene, {.width = 560, .left = 0.08F, .right = 0.955F});
  // Thumbnails tell about where they meet.
  EXPECT_EQ(compare(left, right, std::array<float, 6>{-0.09F, 1, 0, 0, 0, 1}).kind, Kind::framed);
  const Raster whole = show(scene, {});
  const Verdict part = compare(left, whole, std::array<float, 6>{-0.06F, 0.87F, 0, 0, 0, 1});
  EXPECT_EQ(part.kind, Kind::same);
  EXPECT_EQ(part.contained, Contained::first);
  EXPECT_NEAR(part.scale, 1.0F, 0.01F);
  EXPECT_NEAR(part.second_alone, 0.125F, 0.02F);
}

TEST(CloseLook, TellsWhatWasEnlargedFromWhatWasReduced) {
  const Scene scene(12);
  const Raster original = show(scene, {.width = 500, .height = 375});
  // Straight lines between its pixels, twice as many.
  Raster enlarged{1000, 750, std::vector<std::uint8_t>(1000 * 750 * 3), 1000, 750};
  for (int y = 0; y < 750; ++y) {
    for (int x = 0; x < 1000; ++x) {
      const double u = std::clamp(0.5 * x - 0.25, 0.0, 499.0), v = std::clamp(0.5 * y - 0.25, 0.0, 374.0);
      const int left = static_cast<int>(u), top = static_cast<int>(v);
      for (int c = 0; c < 3; ++c) {
        const auto at = [&](int i, int j) {
          return static_cast<double>(
              original.rgb[static_cast<std::size_t>((std::min(374, j) * 500 + std::min(499, i)) * 3 + c)]);
        };
        const double above = at(left, top) + (u - left) * (at(left + 1, top) - at(left, top));
        const double below = at(left, top + 1) + (u - left) * (at(left + 1, top + 1) - at(left, top + 1));
        enlarged.rgb[static_cast<std::size_t>((y * 1000 + x) * 3 + c)] =
            static_cast<std::uint8_t>(above + (v - top) * (below - above) + 0.5);
      }
    }
  }
  const Raster fine = show(scene, {.width = 1000, .height = 750});
  for (const bool swapped : {false, true}) {
    const auto look = [&](const Raster& a, const Raster& b) { return swapped ? compare(b, a) : compare(a, b); };
    EXPECT_EQ(look(original, enlarged).kind, Kind::same);
    EXPECT_TRUE(look(original, enlarged).enlarged);
    EXPECT_FALSE(look(original, fine).enlarged);
    EXPECT_FALSE(look(original, original).enlarged);
  }
}

TEST(CloseLook, ExposuresAndOtherScenesAreNotTheSame) {
  const Scene scene(9);
  const Raster original = show(scene, {.gain = 0.7F});
  EXPECT_EQ(compare(original, show(scene, {.gain = 0.95F})).kind, Kind::toned);
  EXPECT_NE(compare(original, show(Scene(10), {.gain = 0.7F})).kind, Kind::same);
}

TEST(CloseLook, NothingToSeeIsNotTheSame) {
  Raster flat{640, 480, std::vector<std::uint8_t>(640 * 480 * 3, 255), 640, 480};
  Raster dark = flat;
  std::fill(dark.rgb.begin(), dark.rgb.end(), std::uint8_t{3});
  EXPECT_NE(compare(flat, dark).kind, Kind::same);
  for (const auto& [w, h] : {std::pair{1, 1}, {15, 400}, {1024, 16}, {16, 16}, {17, 1024}}) {
    const auto bytes = random_bytes(static_cast<std::size_t>(w * h * 3), 1);
    const Raster small{w, h, bytes, w, h};
    EXPECT_NO_THROW(compare(small, small));
    EXPECT_NO_THROW(compare(small, flat));
    EXPECT_NO_THROW(compare(flat, small));
  }
}

TEST(CloseLook, TheSameBitsAtEveryLevelAndFromAnyLooker) {
  const Scene scene(11);
  const Raster of_a = show(scene, {.noise = 3}), of_b = show(scene, {.width = 500, .height = 375, .gain = 0.9F}),
               of_c =
                   show(scene, {.width = 900, .height = 700, .noise = 5, .dot_x = 0.6F, .dot_y = 0.2F, .dot = 0.02F});
  std::vector<Verdict> first;
  at_every_cpu_level([&] {
    const Prepared a(of_a), b(of_b), c(of_c);
    Looker looker;  // what an earlier pair left in it changes nothing
    const std::vector<Verdict> now = {looker.compare(a, b), looker.compare(b, c), looker.compare(c, a),
                                      looker.compare(a, b)};
    EXPECT_EQ(now[0], now[3]);
    if (first.empty()) first = now;
    EXPECT_TRUE(first == now);
  });
}

}  // namespace
}  // namespace millrace::closelook
