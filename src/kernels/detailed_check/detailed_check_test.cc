#include "src/kernels/detailed_check/detailed_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/kernels/detailed_check/detailed_check_scene_for_test.h"
#include "src/kernels/detailed_check/detailed_check_steps.h"
#include "src/kernels/kernel_test.h"

namespace millrace::detailed_check {
namespace {

TEST(DetailedCheck, BlurEqualsItsReferenceAtEveryLevel) {
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

TEST(DetailedCheck, AffinesMapPixelsByDefinition) {
  Affine a;
  a.m = {1.1, 0.2, 3, -0.1, 0.9, -2};
  const Affine back = then(a, a.inverse());
  EXPECT_NEAR(back.u(5, 7), 5, 1e-9);
  EXPECT_NEAR(back.v(5, 7), 7, 1e-9);
  // Twice as many pixels on both sides: the same places.
  const Affine fine = a.rescaled(2, 2, 2, 2);
  EXPECT_NEAR((fine.u(2 * 5 + 0.5, 2 * 7 + 0.5) - 0.5) / 2, a.u(5, 7), 1e-9);
}

TEST(DetailedCheck, SamplingIsTheMeanOverEachAreaAtEveryLevel) {
  const int w = 61, h = 43;
  const PictureRaster from{w, h, random_bytes(static_cast<std::size_t>(w * h * 3), 4), w, h};
  // Length of pixel k that [begin, end) covers.
  const auto part = [](double begin, double end, int k) {
    return std::max(0.0, std::min(end, k + 1.0) - std::max(begin, 1.0 * k));
  };
  for (const Areas& areas : {Areas{0, 0, 1, 1, w, h},
                             {3, 5, 1, 1, w - 3, h - 5},
                             {2.25, 1.5, 1.7, 2.3, 30, 17},
                             {-0.4, 0.5, 2.0, 2.0, 30, 21},
                             areas_of(PixelBox{10, 4, 61, 43}, 0.5)}) {
    at_every_cpu_level([&] {
      Colour to;
      sample(from, areas, to);
      for (int y = 0; y < areas.height; ++y) {
        for (int x = 0; x < areas.width; ++x) {
          const double left = std::max(0.0, areas.left + x * areas.across),
                       top = std::max(0.0, areas.top + y * areas.down);
          const double right = std::min<double>(w, areas.left + (x + 1) * areas.across),
                       bottom = std::min<double>(h, areas.top + (y + 1) * areas.down);
          for (std::size_t c = 0; c < 3; ++c) {
            double sum = 0;
            for (int j = 0; j < h; ++j) {
              for (int i = 0; i < w && part(top, bottom, j) > 0; ++i)
                sum +=
                    part(left, right, i) * part(top, bottom, j) * from.rgb[static_cast<std::size_t>(j * w + i) * 3 + c];
            }
            ASSERT_NEAR(static_cast<double>(to[c].row(y)[x]), sum / ((right - left) * (bottom - top)), 0.001)
                << x << " " << y;
          }
        }
      }
    });
  }
}

// Rows of digits of seven segments, 12 pixels high. Every square of 8 x 8 with foreground pixels has compression noise.
struct Page {
  int wrong = -1;  // index of the digit that has another segment
  float noise = 0;
  unsigned seed = 1;
};
PictureRaster page_of(const Page& page) {
  constexpr int w = 840, h = 1120;
  PictureRaster out{w, h, std::vector<std::uint8_t>(static_cast<std::size_t>(w * h * 3), 250), w, h};
  std::vector<float> foreground(static_cast<std::size_t>(w * h), 0);
  std::mt19937 digits(7), random(page.seed);
  int count = 0;
  for (int top = 60; top < h - 80; top += 20) {
    for (int left = 60; left < w - 70; left += 12, ++count) {
      // Segments of an eight. Some digits lack some of them; the wrong one has one more or less.
      unsigned lit = digits() % 3 == 0 ? 0b1111111U : 0b0110111U;
      if (count == page.wrong) lit ^= 0b0000010U;
      constexpr int kSegments[7][4] = {{0, 0, 7, 2},  {5, 0, 7, 6}, {5, 6, 7, 12}, {0, 10, 7, 12},
                                       {0, 6, 2, 12}, {0, 0, 2, 6}, {0, 5, 7, 7}};
      constexpr unsigned kBit[7] = {6, 5, 4, 3, 2, 1, 0};
      for (int s = 0; s < 7; ++s) {
        if ((lit >> kBit[s] & 1U) == 0) continue;
        for (int y = kSegments[s][1]; y < kSegments[s][3]; ++y) {
          for (int x = kSegments[s][0]; x < kSegments[s][2]; ++x)
            foreground[static_cast<std::size_t>((top + y) * w + left + x)] = 210;
        }
      }
    }
  }
  for (int top = 0; top < h; top += 8) {
    for (int left = 0; left < w; left += 8) {
      float most = 0;
      for (int k = 0; k < 64; ++k)
        most = std::max(most, foreground[static_cast<std::size_t>((top + k / 8) * w + left + k % 8)]);
      for (int k = 0; k < 64; ++k) {
        const auto at = static_cast<std::size_t>((top + k / 8) * w + left + k % 8);
        const float add = most == 0 ? 0 : page.noise * (static_cast<float>(random() >> 8) * (2.0F / 16777216.0F) - 1);
        const auto level = static_cast<std::uint8_t>(std::clamp(250 - foreground[at] + add, 0.0F, 255.0F));
        for (std::size_t c = 0; c < 3; ++c) out.rgb[3 * at + c] = level;
      }
    }
  }
  return out;
}
PictureRaster halved(const PictureRaster& from) {
  Colour planes;
  shrink(from, 0.5, planes);
  const int w = planes[0].width(), h = planes[0].height();
  PictureRaster out{w, h, {}, w, h};
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      for (const Plane& plane : planes) out.rgb.push_back(static_cast<std::uint8_t>(plane.row(y)[x] + 0.5F));
    }
  }
  return out;
}

PictureRaster part_of(const PictureRaster& from, const PixelBox& box) {
  PictureRaster out{box.right - box.left, box.bottom - box.top, {}, box.right - box.left, box.bottom - box.top};
  for (int y = box.top; y < box.bottom; ++y) {
    const auto row = from.rgb.begin() + static_cast<std::ptrdiff_t>(y * from.width) * 3;
    out.rgb.insert(out.rgb.end(), row + static_cast<std::ptrdiff_t>(box.left) * 3,
                   row + static_cast<std::ptrdiff_t>(box.right) * 3);
  }
  return out;
}

// Adds a multiple of the difference from the mean of nine, clamped to black and white.
PictureRaster sharpened(const PictureRaster& from, float more) {
  PictureRaster out = from;
  for (int y = 1; y + 1 < from.height; ++y) {
    for (int x = 1; x + 1 < from.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const auto at = [&](int i, int j) {
          return static_cast<float>(from.rgb[static_cast<std::size_t>(((y + j) * from.width + x + i) * 3 + c)]);
        };
        float sum = 0;
        for (int j = -1; j <= 1; ++j) sum += at(-1, j) + at(0, j) + at(1, j);
        const float value = at(0, 0) + more * (at(0, 0) - sum / 9);
        out.rgb[static_cast<std::size_t>((y * from.width + x) * 3 + c)] =
            static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
      }
    }
  }
  return out;
}

TEST(DetailedCheck, ADigitAmongDigitsIsFoundBesideWhatCompressionLeaves) {
  const PictureRaster original = page_of({});
  const auto copy = [](float noise) { return page_of({.noise = noise, .seed = 2}); };
  const auto other = [](float noise) { return page_of({.wrong = 1234, .noise = noise, .seed = 2}); };
  EXPECT_EQ(compare(original, copy(70)).kind, DifferenceKind::same) << compare(original, copy(70)).excess;
  EXPECT_EQ(compare(original, halved(copy(30))).kind, DifferenceKind::same)
      << compare(original, halved(copy(30))).excess;
  for (const PictureRaster& changed : {other(70), halved(other(30))}) {
    const Verdict verdict = compare(original, changed);
    EXPECT_EQ(verdict.kind, DifferenceKind::altered) << changed.width << " " << verdict.excess;
    // Position of the digit that was changed.
    constexpr int kColumn = 1234 % 60, kRow = 1234 / 60;
    const double x = (60 + kColumn * 12 + 3) / 840.0, y = (60 + kRow * 20 + 6) / 1120.0;
    EXPECT_LT(static_cast<double>(verdict.first_place[0]), x);
    EXPECT_GT(static_cast<double>(verdict.first_place[2]), x);
    EXPECT_LT(static_cast<double>(verdict.first_place[1]), y);
    EXPECT_GT(static_cast<double>(verdict.first_place[3]), y);
  }
}

// Sharpening makes black strokes no blacker, and the background no whiter.
TEST(DetailedCheck, ASharpenedPageIsTheSameAndOneWithAnotherDigitIsNot) {
  const PictureRaster original = page_of({});
  EXPECT_EQ(compare(original, sharpened(original, 1.2F)).kind, DifferenceKind::same);
  EXPECT_EQ(compare(original, sharpened(page_of({.wrong = 1234}), 1.2F)).kind, DifferenceKind::altered);
}

// A crop that begins at any pixel.
TEST(DetailedCheck, ATileIsComparedPixelByPixel) {
  const Scene scene(14);
  const PictureRaster original = show(scene, {.width = 1300, .height = 975});
  const auto part = [&](float dot) {
    return part_of(show(scene, {.width = 1300, .height = 975, .noise = 6, .dot_x = 0.6F, .dot_y = 0.31F, .dot = dot}),
                   {37, 21, 1241, 950});
  };
  // Map as thumbnails estimate it.
  const std::array<float, 6> meeting = {0.01F, 1300.0F / 1204, 0, 0, 0, 975.0F / 929};
  const Verdict same = compare(original, part(0), meeting);
  EXPECT_EQ(same.kind, DifferenceKind::same) << same.excess;
  EXPECT_EQ(same.contained, Containment::second);
  EXPECT_EQ(compare(original, part(3.0F / 1300), meeting).kind, DifferenceKind::altered);
}

// A mark of six pixels, at the seams of the tiles and beside them.
TEST(DetailedCheck, AMarkIsFoundWhereverTilesMeet) {
  const Scene scene(14);
  const PictureRaster original = show(scene, {.width = 1300, .height = 975});
  for (const int x : {394, 500, 512, 788, 905}) {
    const float u = static_cast<float>(x) / 1300;
    const PictureRaster marked =
        show(scene, {.width = 1300, .height = 975, .noise = 3, .dot_x = u, .dot_y = 0.8F * u, .dot = 3.0F / 1300});
    EXPECT_EQ(compare(original, marked).kind, DifferenceKind::altered) << x;
  }
}

TEST(DetailedCheck, WhatCopyingDoesIsTheSame) {
  const Scene scene(5);
  const PictureRaster original = show(scene, {});
  const std::vector<std::pair<const char*, SceneView>> copies = {
      {"noise", {.noise = 8}},
      {"half the size", {.width = 320, .height = 240}},
      {"larger", {.width = 960, .height = 720}},
      {"brighter, less contrast", {.gain = 0.93F, .bias = 12}},
      {"a frame", {.frame = 20}},
      {"a crop", {.width = 600, .height = 450, .left = 0.03F, .top = 0.02F, .right = 0.97F, .bottom = 0.725F}},
  };
  for (const auto& [what, shown] : copies) {
    const Verdict verdict = compare(original, show(scene, shown));
    EXPECT_EQ(verdict.kind, DifferenceKind::same) << what << " " << verdict.excess;
    EXPECT_EQ(verdict.contained, std::strcmp(what, "a crop") == 0 ? Containment::second : Containment::both) << what;
  }
}

TEST(DetailedCheck, TellsAFrameFromWhatIsNone) {
  const Scene scene(5);
  const PictureRaster original = show(scene, {}), framed = show(scene, {.frame = 20});
  for (const bool swapped : {false, true}) {
    const Verdict verdict = swapped ? compare(framed, original) : compare(original, framed);
    EXPECT_EQ(verdict.kind, DifferenceKind::same);
    EXPECT_EQ(verdict.first_framed, swapped);
    EXPECT_EQ(verdict.second_framed, !swapped);
  }
  EXPECT_FALSE(compare(framed, framed).first_framed);
  EXPECT_FALSE(compare(original, show(scene, {.noise = 8})).second_framed);
  // A page's margins are a part of it, and so is the black around a round image.
  const PictureRaster page = page_of({});
  EXPECT_FALSE(compare(page, part_of(page, {30, 30, 810, 1090})).first_framed);
  PictureRaster round = show(scene, {.width = 600, .height = 600, .bottom = 1});
  for (int y = 0; y < 600; ++y) {
    for (int x = 0; x < 600; ++x) {
      if (std::hypot(x - 300, y - 300) > 240)
        std::fill_n(round.rgb.begin() + static_cast<std::ptrdiff_t>(y * 600 + x) * 3, 3, std::uint8_t{2});
    }
  }
  EXPECT_FALSE(compare(round, part_of(round, {55, 55, 545, 545})).first_framed);
}

TEST(DetailedCheck, ALineOnAFrameIsLostWithIt) {
  const Scene scene(5);
  const SceneView large{.width = 1600, .height = 1200, .frame = 96};
  const PictureRaster original = show(scene, {.width = 1600, .height = 1200});
  for (const int note : {0, 245}) {
    SceneView shown = large;
    shown.note = note;
    const PictureRaster noted = show(scene, shown);
    for (const bool swapped : {false, true}) {
      const Verdict verdict = swapped ? compare(noted, original) : compare(original, noted);
      EXPECT_FALSE(verdict.kind == DifferenceKind::same &&
                   (verdict.contained == Containment::both ||
                    verdict.contained == (swapped ? Containment::first : Containment::second)))
          << note << ": the framed one may go";
    }
    EXPECT_EQ(compare(noted, noted).kind, DifferenceKind::same) << "both have it";
  }
  EXPECT_EQ(compare(original, show(scene, large)).kind, DifferenceKind::same) << "nothing is written on it";
}

TEST(DetailedCheck, ASmallMarkIsFoundWhereItIs) {
  for (const unsigned seed : {5U, 6U, 7U}) {
    const Scene scene(seed);
    const PictureRaster original = show(scene, {});
    const SceneView marked{.noise = 4, .dot_x = 0.3F, .dot_y = 0.5F, .dot = 1.0F / 120};
    const Verdict verdict = compare(original, show(scene, marked));
    ASSERT_EQ(verdict.kind, DifferenceKind::altered) << seed;
    const auto& [left, top, right, bottom] = verdict.first_place;
    EXPECT_LT(left, 0.3F);
    EXPECT_GT(right, 0.3F);
    EXPECT_LT(top, 0.5F / 0.75F);
    EXPECT_GT(bottom, 0.5F / 0.75F);
    EXPECT_LT((right - left) * (bottom - top), 0.05F) << "and not everywhere";
  }
}

TEST(DetailedCheck, ShowsWhichIsAPartAndWhichIsBeside) {
  const Scene scene(8);
  const PictureRaster left = show(scene, {.width = 560, .right = 0.875F});
  const PictureRaster right = show(scene, {.width = 560, .left = 0.08F, .right = 0.955F});
  // Map as thumbnails estimate it.
  EXPECT_EQ(compare(left, right, std::array<float, 6>{-0.09F, 1, 0, 0, 0, 1}).kind, DifferenceKind::framed);
  const PictureRaster whole = show(scene, {});
  const Verdict part = compare(left, whole, std::array<float, 6>{-0.06F, 0.87F, 0, 0, 0, 1});
  EXPECT_EQ(part.kind, DifferenceKind::same);
  EXPECT_EQ(part.contained, Containment::first);
  EXPECT_NEAR(part.scale, 1.0F, 0.01F);
  EXPECT_NEAR(part.second_outside, 0.125F, 0.02F);
}

TEST(DetailedCheck, TellsWhatWasEnlargedFromWhatWasReduced) {
  const Scene scene(12);
  const PictureRaster original = show(scene, {.width = 500, .height = 375});
  // Enlarges it to twice the size by linear interpolation.
  PictureRaster enlarged{1000, 750, std::vector<std::uint8_t>(1000 * 750 * 3), 1000, 750};
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
  const PictureRaster fine = show(scene, {.width = 1000, .height = 750});
  for (const bool swapped : {false, true}) {
    const auto compare_in_order = [&](const PictureRaster& a, const PictureRaster& b) {
      return swapped ? compare(b, a) : compare(a, b);
    };
    EXPECT_EQ(compare_in_order(original, enlarged).kind, DifferenceKind::same);
    EXPECT_TRUE(compare_in_order(original, enlarged).enlarged);
    EXPECT_FALSE(compare_in_order(original, fine).enlarged);
    // Fine strokes in a corner of an enlarged picture are more than its source shows.
    PictureRaster written = enlarged;
    for (int y = 20; y < 50; ++y) {
      for (int x = 20; x < 120; ++x) {
        if (x % 4 < 2)
          std::fill_n(written.rgb.begin() + static_cast<std::ptrdiff_t>(y * 1000 + x) * 3, 3, std::uint8_t{120});
      }
    }
    EXPECT_FALSE(compare_in_order(original, written).enlarged);
    EXPECT_FALSE(compare_in_order(original, original).enlarged);
  }
}

TEST(DetailedCheck, ExposuresAndOtherScenesAreNotTheSame) {
  const Scene scene(9);
  const PictureRaster original = show(scene, {.gain = 0.7F});
  EXPECT_EQ(compare(original, show(scene, {.gain = 0.95F})).kind, DifferenceKind::toned);
  EXPECT_NE(compare(original, show(Scene(10), {.gain = 0.7F})).kind, DifferenceKind::same);
}

TEST(DetailedCheck, NothingToSeeIsNotTheSame) {
  PictureRaster flat{640, 480, std::vector<std::uint8_t>(640 * 480 * 3, 255), 640, 480};
  PictureRaster dark = flat;
  std::fill(dark.rgb.begin(), dark.rgb.end(), std::uint8_t{3});
  EXPECT_NE(compare(flat, dark).kind, DifferenceKind::same);
  for (const auto& [w, h] : {std::pair{1, 1}, {15, 400}, {1024, 16}, {16, 16}, {17, 1024}}) {
    const auto bytes = random_bytes(static_cast<std::size_t>(w * h * 3), 1);
    const PictureRaster small{w, h, bytes, w, h};
    EXPECT_NO_THROW(compare(small, small));
    EXPECT_NO_THROW(compare(small, flat));
    EXPECT_NO_THROW(compare(flat, small));
  }
}

TEST(DetailedCheck, TheSameBitsAtEveryLevelAndFromAnyComparator) {
  const Scene scene(11);
  const PictureRaster of_a = show(scene, {.noise = 3}), of_b = show(scene, {.width = 500, .height = 375, .gain = 0.9F}),
                      of_c = show(
                          scene, {.width = 900, .height = 700, .noise = 5, .dot_x = 0.6F, .dot_y = 0.2F, .dot = 0.02F});
  std::vector<Verdict> first;
  at_every_cpu_level([&] {
    const PreparedPicture a(of_a), b(of_b), c(of_c);
    DetailedComparator comparator;  // what an earlier pair left in it changes nothing
    const std::vector<Verdict> now = {comparator.compare(a, b), comparator.compare(b, c), comparator.compare(c, a),
                                      comparator.compare(a, b)};
    EXPECT_EQ(now[0], now[3]);
    if (first.empty()) first = now;
    EXPECT_TRUE(first == now);
  });
}

}  // namespace
}  // namespace millrace::detailed_check
