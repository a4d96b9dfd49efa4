#include "src/kernels/contours/contours.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace millrace {
namespace {

struct TracedMask {
  std::size_t width, height;
  std::vector<std::uint8_t> labels;
  std::uint8_t at(std::int64_t x, std::int64_t y) const {
    if (x < 0 || y < 0 || x >= static_cast<std::int64_t>(width) || y >= static_cast<std::int64_t>(height)) return 0;
    return labels[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
  }
};

struct Traced {
  std::vector<Outline> outlines;
  std::vector<std::uint32_t> cuts;
};

Traced trace(const TracedMask& image, std::size_t most = 1 << 20) {
  Traced out;
  ContourTracer::Labels outlined{};
  for (std::size_t label = 1; label < 256; ++label) outlined[label] = true;
  ContourTracer contours(outlined, most, [&](const Outline& outline) { out.outlines.push_back(outline); });
  std::vector<LabelRun> runs;
  for (std::size_t y = 0; y < image.height; ++y) {
    find_runs(std::span(image.labels).subspan(y * image.width, image.width), runs);
    contours.add_row(runs);
  }
  contours.finish();
  out.cuts = contours.cuts();
  return out;
}

std::int64_t twice_area(const std::vector<Corner>& ring) {
  std::int64_t out = 0;
  for (std::size_t k = 0; k < ring.size(); ++k) {
    const Corner &a = ring[k], &b = ring[(k + 1) % ring.size()];
    out += std::int64_t{a.x} * b.y - std::int64_t{b.x} * a.y;
  }
  return out;
}

// Fills an outline by the even-odd rule, column by column of each row.
void fill(const Outline& outline, TracedMask& image) {
  for (std::size_t y = 0; y < image.height; ++y) {
    std::vector<std::uint8_t> flips(image.width + 1);
    for (const auto& ring : outline.rings) {
      for (std::size_t k = 0; k < ring.size(); ++k) {
        const Corner &a = ring[k], &b = ring[(k + 1) % ring.size()];
        if (a.x == b.x && std::min(a.y, b.y) <= y && y < std::max(a.y, b.y)) flips[a.x] ^= 1;
      }
    }
    bool inside = false;
    for (std::size_t x = 0; x < image.width; ++x) {
      inside ^= flips[x] != 0;
      if (!inside) continue;
      EXPECT_EQ(image.labels[y * image.width + x], 0) << "two outlines hold one pixel";
      image.labels[y * image.width + x] = outline.label;
    }
  }
}

void expect_outlines(const TracedMask& image, const Traced& traced) {
  TracedMask filled{image.width, image.height, std::vector<std::uint8_t>(image.labels.size())};
  for (const Outline& outline : traced.outlines) {
    fill(outline, filled);
    ASSERT_FALSE(outline.rings.empty());
    for (std::size_t k = 0; k < outline.rings.size(); ++k) {
      const auto& ring = outline.rings[k];
      ASSERT_GE(ring.size(), 4U);
      EXPECT_EQ(twice_area(ring) > 0, k == 0) << "the outside is one, and comes first";
      std::map<std::pair<std::uint32_t, std::uint32_t>, int> times;
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const Corner &a = ring[i], &b = ring[(i + 1) % ring.size()], &c = ring[(i + 2) % ring.size()];
        EXPECT_NE(a.x == b.x, a.y == b.y) << "sides are those of pixels";
        EXPECT_NE(a.x == b.x, b.x == c.x) << "a corner is one";
        EXPECT_EQ(++times[std::make_pair(a.x, a.y)], 1) << "a ring does not touch itself";
      }
    }
  }
  EXPECT_EQ(filled.labels, image.labels);
}

// Returns the number of 4-connected areas, by flooding.
std::size_t parts_of(const TracedMask& image) {
  std::vector<bool> done(image.labels.size());
  std::size_t out = 0;
  for (std::size_t k = 0; k < image.labels.size(); ++k) {
    if (done[k] || image.labels[k] == 0) continue;
    ++out;
    std::vector<std::size_t> left{k};
    done[k] = true;
    while (!left.empty()) {
      const auto x = static_cast<std::int64_t>(left.back() % image.width),
                 y = static_cast<std::int64_t>(left.back() / image.width);
      left.pop_back();
      for (const auto& [i, j] : {std::pair{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}}) {
        if (image.at(i, j) != image.labels[k]) continue;
        const auto at = static_cast<std::size_t>(j) * image.width + static_cast<std::size_t>(i);
        if (!done[at]) left.push_back(at);
        done[at] = true;
      }
    }
  }
  return out;
}

TEST(ContourTracer, HoldsExactlyThePixelsOfEachPart) {
  std::mt19937 random(4);
  for (int k = 0; k < 300; ++k) {
    const std::size_t width = 1 + random() % 24, height = 1 + random() % 24;
    TracedMask image{width, height, std::vector<std::uint8_t>(width * height)};
    const unsigned labels = 2 + k % 3;
    for (std::uint8_t& label : image.labels) label = static_cast<std::uint8_t>(random() % labels);
    const Traced traced = trace(image);
    expect_outlines(image, traced);
    EXPECT_EQ(traced.outlines.size(), parts_of(image));
    EXPECT_TRUE(traced.cuts.empty());
  }
}

TEST(ContourTracer, ARingInARingAndWhatTouchesAtACorner) {
  const TracedMask rings{7, 7, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0,
                                1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}};
  const Traced traced = trace(rings);
  expect_outlines(rings, traced);
  ASSERT_EQ(traced.outlines.size(), 2U);
  EXPECT_EQ(traced.outlines[0].rings.size(), 2U);  // the inner one ends first
  EXPECT_EQ(traced.outlines[1].rings.size(), 2U);
  const TracedMask corner{2, 2, {1, 0, 0, 1}};
  EXPECT_EQ(trace(corner).outlines.size(), 2U);
  // The ends of the hook touch at a corner: a hole that touches the outside.
  const TracedMask hook{3, 3, {1, 1, 1, 1, 0, 1, 1, 1, 0}};
  const Traced hooked = trace(hook);
  expect_outlines(hook, hooked);
  ASSERT_EQ(hooked.outlines.size(), 1U);
  EXPECT_EQ(hooked.outlines[0].rings.size(), 2U);
}

TEST(ContourTracer, WithTooManyCornersAllIsClosedAlongARowAndNoPixelIsLost) {
  std::mt19937 random(9);
  TracedMask image{40, 60, std::vector<std::uint8_t>(40 * 60)};
  for (std::uint8_t& label : image.labels) label = random() % 3 == 0 ? 0 : 1;
  const Traced traced = trace(image, 200);
  EXPECT_FALSE(traced.cuts.empty());
  expect_outlines(image, traced);
  EXPECT_GT(traced.outlines.size(), trace(image).outlines.size());
}

}  // namespace
}  // namespace millrace
