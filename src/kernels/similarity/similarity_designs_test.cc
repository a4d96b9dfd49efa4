// Drawings: plain grounds, soft slopes, small things, and marks that outweigh them.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/kernels/similarity/similarity_pixels_for_test.h"

namespace millrace::similarity {
namespace {

constexpr int kFine = 4;  // samples of a pixel, each way

// Renders the colours at positions in [0, 1]^2; the middle `share` of each side is shown.
template <typename Paint>
Thumbnail draw(const Paint& paint, float share = 1) {
  Thumbnail out;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      Colour sum{0, 0, 0};
      for (int s = 0; s < kFine * kFine; ++s) {
        const int across = x * kFine + s % kFine, down = y * kFine + s / kFine;
        const float u = (static_cast<float>(across) + 0.5F) / (kFine * kSide);
        const float v = (static_cast<float>(down) + 0.5F) / (kFine * kSide);
        const Colour c = paint(0.5F + (u - 0.5F) * share, 0.5F + (v - 0.5F) * share);
        sum = {sum.r + c.r, sum.g + c.g, sum.b + c.b};
      }
      const std::size_t k = at(x, y);
      const auto level = [](float total) {
        return static_cast<std::uint8_t>(std::clamp(total / (kFine * kFine) + 0.5F, 0.0F, 255.0F));
      };
      out[k] = level(sum.r);
      out[k + 1] = level(sum.g);
      out[k + 2] = level(sum.b);
    }
  }
  return out;
}

float bump(float u, float v, float x, float y, float width) {
  const float d = ((u - x) * (u - x) + (v - y) * (v - y)) / (width * width);
  return 1 / (1 + d * d);
}

// Soft lights on a dark ground, with hardly any fine detail.
Colour dark_lights(float u, float v) {
  const float l = 60 * bump(u, v, 0.35F, 0.25F, 0.22F) + 44 * bump(u, v, 0.8F, 0.8F, 0.3F);
  return {4 + l, 6 + 0.9F * l, 5 + 0.3F * l};
}

// Draws a mark across the middle that looks much like bright letters.
void put_mark(Thumbnail& pixels) {
  for (int y = 29; y < 35; ++y) {
    for (int x = 12; x < 52; ++x) {
      if ((x / 2 + y / 3) % 2 != 0) continue;
      for (std::size_t c = 0; c < 3; ++c) {
        auto& p = pixels[at(x, y) + c];
        p = static_cast<std::uint8_t>((p + 255) / 2);
      }
    }
  }
}

TEST(SimilarityDesigns, SmallThingsOnAPlainGroundDiffer) {
  // A disc, a bar and a corner in the place of a single tile: all other tiles are flat and say nothing.
  const Thumbnail disc = draw([](float u, float v) {
    const float dx = u - 0.5F, dy = v - 0.5F;
    return dx * dx + dy * dy < 0.0036F ? Colour{230, 230, 230} : Colour{0, 0, 0};
  });
  const Thumbnail bar = draw([](float u, float v) {
    return std::abs(u - 0.5F) < 0.07F && std::abs(v - 0.5F) < 0.02F ? Colour{230, 230, 230} : Colour{0, 0, 0};
  });
  const Thumbnail corner = draw([](float u, float v) {
    const bool in = u > 0.44F && u < 0.56F && v > 0.44F && v < 0.56F && u - 0.44F < v - 0.44F;
    return in ? Colour{230, 230, 230} : Colour{0, 0, 0};
  });
  EXPECT_NE(compare_pixels(disc, bar).kind, SimilarityKind::same);
  EXPECT_NE(compare_pixels(disc, corner).kind, SimilarityKind::same);
  EXPECT_NE(compare_pixels(bar, corner).kind, SimilarityKind::same);
}

TEST(SimilarityDesigns, AMarkOnADarkPictureIsSeenPast) {
  Thumbnail marked = draw(dark_lights);
  put_mark(marked);
  const Comparison v = compare_pixels(draw(dark_lights), marked);
  EXPECT_EQ(v.kind, SimilarityKind::same) << v.structure << " " << v.correlation;
  const Comparison cropped = compare_pixels(draw(dark_lights, 0.9F), marked);
  EXPECT_EQ(cropped.kind, SimilarityKind::same) << cropped.structure << " " << cropped.correlation;
}

TEST(SimilarityDesigns, OneMarkOnTwoDarkPicturesDoesNotMakeThemOne) {
  Thumbnail first = draw(dark_lights);
  Thumbnail second = draw([](float u, float v) { return dark_lights(1 - u, 1 - 0.7F * v); });
  put_mark(first);
  EXPECT_NE(compare_pixels(first, second).kind, SimilarityKind::same);
  put_mark(second);
  EXPECT_NE(compare_pixels(first, second).kind, SimilarityKind::same);
}

TEST(SimilarityDesigns, FineColouredTextureIsNoOtherColour) {
  // A weave of coloured blocks of about a pixel and a half: a crop brings other blocks onto a sample.
  const auto weave = [](float u, float v) {
    const auto x = static_cast<unsigned>(u * 43), y = static_cast<unsigned>(v * 43);
    const unsigned n = ((x * 2654435761U) ^ (y * 2246822519U)) * 3266489917U;
    const auto part = [n](int shift) { return static_cast<float>((n >> shift) & 255U); };
    return Colour{part(24), part(16), part(8)};
  };
  const Comparison v = compare_pixels(draw(weave), draw(weave, 0.9F));
  EXPECT_LE(v.chroma, 0.12F);
  EXPECT_EQ(v.kind, SimilarityKind::same) << v.structure;
}

}  // namespace
}  // namespace millrace::similarity
