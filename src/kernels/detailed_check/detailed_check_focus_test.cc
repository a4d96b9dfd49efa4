#include "src/kernels/detailed_check/detailed_check_focus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "src/kernels/detailed_check/detailed_check_scene_for_test.h"
#include "src/kernels/kernel_test.h"

namespace millrace::detailed_check {
namespace {

PictureRaster scene() { return show(Scene(3), {.width = 1280, .height = 960, .noise = 3}); }

PictureRaster out_of_focus(const PictureRaster& sharp, double sigma) {
  PictureRaster out = sharp;
  Plane channel, soft;
  channel.size(sharp.width, sharp.height);
  for (std::size_t c = 0; c < 3; ++c) {
    const auto at = [&](PictureRaster& raster, int x, int y) -> std::uint8_t& {
      return raster.rgb[3 * static_cast<std::size_t>(y * raster.width + x) + c];
    };
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) channel.row(y)[x] = at(out, x, y);
    }
    blur(channel, sigma, soft);
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) at(out, x, y) = static_cast<std::uint8_t>(soft.row(y)[x] + 0.5F);
    }
  }
  return out;
}

// Joins `left` up to the column with `right` from there on.
PictureRaster joined(const PictureRaster& left, const PictureRaster& right, int column) {
  PictureRaster out = left;
  for (int y = 0; y < left.height; ++y) {
    const auto from = static_cast<std::ptrdiff_t>(3 * (y * left.width + column)),
               to = static_cast<std::ptrdiff_t>(3 * (y + 1) * left.width);
    std::copy(right.rgb.begin() + from, right.rgb.begin() + to, out.rgb.begin() + from);
  }
  return out;
}
PictureRaster halves(const PictureRaster& left, const PictureRaster& right) {
  return joined(left, right, left.width / 2);
}
PictureRaster soft_on_the_right(const PictureRaster& sharp, const PictureRaster& soft) {
  return joined(sharp, soft, sharp.width * 3 / 4);
}

TEST(FocusComparison, FramesOfAStackAreNoCopiesOfEachOther) {
  const PictureRaster sharp = scene();
  for (const double sigma : {0.8, 1.5, 3.0}) {
    const PictureRaster soft = out_of_focus(sharp, sigma);
    const Verdict stack = compare(halves(sharp, soft), halves(soft, sharp));
    EXPECT_EQ(stack.kind, DifferenceKind::altered) << sigma;
    EXPECT_EQ(stack.contained, Containment::neither);
    // The place lies in one of the halves.
    EXPECT_TRUE(stack.first_place[2] <= 0.55F || stack.first_place[0] >= 0.45F) << sigma;
    // A picture that is softer all over, or in a part, is sharper nowhere.
    if (sigma < 2) {
      const Verdict all_over = compare(sharp, soft);
      EXPECT_EQ(all_over.kind, DifferenceKind::same) << sigma;
      EXPECT_FALSE(all_over.first_sharper || all_over.second_sharper) << sigma;
      const PictureRaster partly = soft_on_the_right(sharp, soft);
      const Verdict half = compare(sharp, partly), other = compare(partly, sharp);
      EXPECT_EQ(half.kind, DifferenceKind::same) << sigma;
      EXPECT_TRUE(half.first_sharper && !half.second_sharper) << sigma;
      EXPECT_TRUE(other.second_sharper && !other.first_sharper) << sigma;
    }
  }
}

TEST(FocusComparison, WhatTheOneHasNoiseInIsNotSharper) {
  const PictureRaster sharp = scene();
  const PictureRaster noisy = show(Scene(3), {.width = 1280, .height = 960, .noise = 9, .seed = 2});
  EXPECT_EQ(compare(halves(sharp, noisy), halves(noisy, sharp)).kind, DifferenceKind::same);
}

TEST(FocusComparison, OneBitsAtEveryLevel) {
  const PictureRaster sharp = scene();
  const PictureRaster soft = out_of_focus(sharp, 1.2);
  Plane first, second;
  for (Plane* plane : {&first, &second}) plane->size(200, 130);
  const auto a = random_bytes(200 * 130, 3), b = random_bytes(200 * 130, 5);
  for (int y = 0; y < 130; ++y) {
    for (int x = 0; x < 200; ++x) {
      const auto i = static_cast<std::size_t>(y * 200 + x);
      first.row(y)[x] = a[i];
      second.row(y)[x] = 0.7F * static_cast<float>(a[i]) + 0.1F * static_cast<float>(b[i]);
    }
  }
  FocusScratch scratch;
  const FocusPlaces once = find_focus_places(first, second, nullptr, 0, scratch);
  ASSERT_EQ(once.columns, 3);
  ASSERT_EQ(once.places.size(), 6U);
  at_every_cpu_level([&] {
    const FocusPlaces now = find_focus_places(first, second, nullptr, 0, scratch);
    for (std::size_t i = 0; i < now.places.size(); ++i) {
      EXPECT_EQ(now.places[i].first, once.places[i].first);
      EXPECT_EQ(now.places[i].second, once.places[i].second);
    }
  });
}

// A flat field: the falloff of a lamp's light, and a sensor's noise.
PictureRaster flat_field(unsigned seed) {
  PictureRaster out;
  out.width = out.full_width = 1280;
  out.height = out.full_height = 960;
  std::mt19937 random(seed);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const double far = std::pow((x - 640) / 640.0, 2) + std::pow((y - 480) / 480.0, 2);
      double noise = -6;  // the sum of twelve, which is nearly normal
      for (int k = 0; k < 12; ++k) noise += static_cast<double>(random() >> 8) / 16777216.0;
      const auto level = static_cast<std::uint8_t>(std::clamp(180 - 40 * far + 3 * noise, 0.0, 255.0));
      out.rgb.insert(out.rgb.end(), 3, level);
    }
  }
  return out;
}

TEST(FocusComparison, TwoExposuresOfNothingAreTwo) {
  const PictureRaster one = flat_field(1), other = flat_field(2);
  EXPECT_NE(compare(one, other).kind, DifferenceKind::same);
  PictureRaster brighter = one;
  for (std::uint8_t& level : brighter.rgb) level = static_cast<std::uint8_t>(std::min(255, level + 6));
  EXPECT_EQ(compare(one, brighter).kind, DifferenceKind::same) << "a copy has its noise";
}

TEST(Drawing, LinesOnPlainGroundAndNoPhotograph) {
  PictureRaster drawing;
  drawing.width = drawing.full_width = 800;
  drawing.height = drawing.full_height = 600;
  drawing.rgb.assign(std::size_t{3} * 800 * 600, 250);
  for (int y = 100; y < 500; ++y) {
    for (int x = 0; x < 20; ++x) drawing.rgb[3 * static_cast<std::size_t>(y * 800 + 300 + x + y / 8)] = 10;
  }
  EXPECT_TRUE(PreparedPicture(drawing).is_drawing());
  EXPECT_TRUE(PreparedPicture(drawing).turned(Orientation::mirrored).is_drawing());
  EXPECT_FALSE(PreparedPicture(scene()).is_drawing());
}

}  // namespace
}  // namespace millrace::detailed_check
