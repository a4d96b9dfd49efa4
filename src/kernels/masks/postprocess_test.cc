#include "src/kernels/masks/postprocess.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>

namespace millrace::masks {
namespace {

using Plane = std::vector<std::uint8_t>;

Plane random_plane(int width, int height, unsigned seed, double share) {
  std::mt19937 random(seed);
  Plane out(static_cast<std::size_t>(width * height));
  for (auto& one : out) one = static_cast<double>(random() % 1000) < 1000 * share ? 1 : 0;
  return out;
}

// Finds connected areas by flooding, pixel by pixel.
std::vector<std::vector<int>> parts(const Plane& plane, int width, int height, std::uint8_t value, bool corners) {
  std::vector<std::vector<int>> out;
  std::set<int> seen;
  for (int start = 0; start < width * height; ++start) {
    if (plane[static_cast<std::size_t>(start)] != value || seen.count(start) > 0) continue;
    std::vector<int> part = {start};
    seen.insert(start);
    for (std::size_t k = 0; k < part.size(); ++k) {
      const int x = part[k] % width, y = part[k] / width;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          if (!corners && dx != 0 && dy != 0) continue;
          const int i = x + dx, j = y + dy;
          if (i < 0 || j < 0 || i >= width || j >= height) continue;
          const int at = j * width + i;
          if (plane[static_cast<std::size_t>(at)] == value && seen.insert(at).second) part.push_back(at);
        }
      }
    }
    out.push_back(std::move(part));
  }
  return out;
}

TEST(Postprocessing, DropsPartsAndFillsHolesAsFloodingFindsThem) {
  PostprocessWorkspace workspace;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const int width = 5 + static_cast<int>(seed) % 29, height = 3 + static_cast<int>(seed * 7) % 23;
    const Plane plane = random_plane(width, height, seed, 0.2 + 0.015 * seed);
    const std::int64_t area = 1 + seed % 12;
    Plane wanted = plane, found = plane;
    for (const auto& part : parts(plane, width, height, 1, true))
      if (static_cast<std::int64_t>(part.size()) < area)
        for (const int at : part) wanted[static_cast<std::size_t>(at)] = 0;
    remove_specks(found.data(), width, height, area, workspace);
    EXPECT_EQ(found, wanted) << seed;
    for (const std::int64_t most : {area, std::int64_t{-1}}) {
      wanted = found = plane;
      for (const auto& part : parts(plane, width, height, 0, false)) {
        bool touches = false;
        for (const int at : part)
          touches =
              touches || at % width == 0 || at % width == width - 1 || at / width == 0 || at / width == height - 1;
        if (!touches && (most < 0 || static_cast<std::int64_t>(part.size()) < most))
          for (const int at : part) wanted[static_cast<std::size_t>(at)] = 1;
      }
      fill_holes(found.data(), width, height, most, workspace);
      EXPECT_EQ(found, wanted) << seed;
    }
  }
}

TEST(Postprocessing, DilatesByADisc) {
  PostprocessWorkspace workspace;
  for (const int diameter : {2, 3, 5, 8, 11}) {
    constexpr int kWidth = 23, kHeight = 17;
    const Plane plane = random_plane(kWidth, kHeight, static_cast<unsigned>(diameter), 0.03);
    Plane found(plane.size());
    dilate(plane.data(), found.data(), kWidth, kHeight, diameter, workspace);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        int wanted = 0;
        for (int dy = -diameter; dy <= diameter; ++dy)
          for (int dx = -diameter; dx <= diameter; ++dx) {
            const int i = x + dx, j = y + dy;
            if (4 * (dx * dx + dy * dy) > diameter * diameter || i < 0 || j < 0 || i >= kWidth || j >= kHeight)
              continue;
            wanted |= plane[static_cast<std::size_t>(j * kWidth + i)];
          }
        ASSERT_EQ(found[static_cast<std::size_t>(y * kWidth + x)], wanted) << diameter << " at " << x << " " << y;
      }
    }
  }
}

TEST(Postprocessing, OpensClosesAndKeepsTheEdgeAsSoftAsItWas) {
  constexpr int kWidth = 40, kHeight = 30;
  std::vector<std::uint16_t> mask(kWidth * kHeight, 100);
  const auto at = [&](int x, int y) -> std::uint16_t& { return mask[static_cast<std::size_t>(y * kWidth + x)]; };
  for (int y = 8; y < 22; ++y)
    for (int x = 8; x < 26; ++x) at(x, y) = 12000;
  for (int x = 26; x < 36; ++x) at(x, 14) = 15000;  // a hair, which opening removes
  for (int y = 8; y < 22; ++y) at(17, y) = 300;     // a crack, which closing fills
  at(2, 2) = at(3, 2) = kOne;                       // dust
  std::vector<std::uint16_t> before = mask;
  PostprocessWorkspace workspace;
  postprocess(mask.data(), kWidth, kHeight, kOne / 2, {.area = 10, .holes = -1, .open = 3, .close = 5, .feather = 0},
              {}, workspace);
  EXPECT_EQ(at(2, 2), 0);
  EXPECT_EQ(at(32, 14), 0);
  EXPECT_EQ(at(17, 14), kOne);
  EXPECT_EQ(at(12, 12), 12000);
  EXPECT_EQ(at(38, 28), 100);
  // A mask at the picture's side stays there.
  std::vector<std::uint16_t> all(kWidth * kHeight, kOne);
  before = all;
  postprocess(all.data(), kWidth, kHeight, kOne / 2, {.area = 0, .holes = 0, .open = 9, .close = 9, .feather = 3}, {},
              workspace);
  EXPECT_EQ(all, before);
}

TEST(Postprocessing, FeathersAsAGaussianWould) {
  constexpr int kWidth = 101, kHeight = 61;
  for (const double deviation : {1.5, 3.0, 8.0}) {
    std::vector<std::uint16_t> mask(kWidth * kHeight, 0);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 50; x < kWidth; ++x) mask[static_cast<std::size_t>(y * kWidth + x)] = kOne;
    PostprocessWorkspace workspace;
    soften(mask.data(), kWidth, kHeight, deviation, workspace);
    for (int x = 5; x < kWidth - 5; ++x) {
      const double wanted = kOne * (0.5 + 0.5 * std::erf((x - 49.5) / deviation / std::sqrt(2.0)));
      EXPECT_NEAR(mask[static_cast<std::size_t>(30 * kWidth + x)], wanted, 0.045 * kOne) << deviation << " at " << x;
      EXPECT_EQ(mask[static_cast<std::size_t>(x)], mask[static_cast<std::size_t>(30 * kWidth + x)]);
    }
  }
}

}  // namespace
}  // namespace millrace::masks
