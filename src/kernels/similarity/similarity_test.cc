#include "src/kernels/similarity/similarity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "src/kernels/kernel_test.h"
#include "src/kernels/similarity/similarity_pixels_for_test.h"

namespace millrace::similarity {
namespace {

// Random numbers that are the same on every machine.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2654435761U + 12345U) {}
  float next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(state_ >> 8) * (1.0F / 16777216.0F);
  }

 private:
  std::uint32_t state_;
};

// A scene of soft discs on a slope of colour, described in [0, 1]^2. It uses only additions and products, so that every
// machine renders the same bytes.
struct Scene {
  struct Disc {
    float x, y, radius, depth;
    Colour colour;
  };
  std::vector<Disc> discs;
  Colour from, to;

  explicit Scene(std::uint32_t seed, int count = 22) {
    Random random(seed);
    const auto colour = [&] {
      return Colour{random.next() * 220 + 15, random.next() * 220 + 15, random.next() * 220 + 15};
    };
    from = colour();
    to = colour();
    for (int i = 0; i < count; ++i) {
      discs.push_back(
          {random.next(), random.next(), 0.04F + 0.16F * random.next(), random.next() < 0.5F ? -1.0F : 1.0F, colour()});
    }
  }

  // `parallax` moves near discs right and far ones left.
  Colour at(float x, float y, float parallax) const {
    Colour c{from.r + (to.r - from.r) * y, from.g + (to.g - from.g) * y, from.b + (to.b - from.b) * x};
    for (const Disc& d : discs) {
      const float dx = x - d.x - parallax * d.depth, dy = y - d.y;
      const float inside = 1 - (dx * dx + dy * dy) / (d.radius * d.radius);
      const float part = std::clamp(inside * 6.0F, 0.0F, 1.0F);
      c.r += part * (d.colour.r - c.r);
      c.g += part * (d.colour.g - c.g);
      c.b += part * (d.colour.b - c.b);
    }
    return c;
  }
};

struct View {
  float left = 0, top = 0, right = 1, bottom = 1;  // part of the scene that is shown
  float parallax = 0;
  std::function<Colour(Colour)> edit = [](Colour c) { return c; };
};

std::uint8_t level(float v) { return static_cast<std::uint8_t>(std::clamp(v + 0.5F, 0.0F, 255.0F)); }

Thumbnail render(const Scene& scene, const View& view = {}) {
  Thumbnail out;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      Colour sum{0, 0, 0};
      for (int s = 0; s < 9; ++s) {
        const int across = s % 3, down = s / 3;
        const float u = (static_cast<float>(x) + (static_cast<float>(across) + 0.5F) / 3) / kSide;
        const float v = (static_cast<float>(y) + (static_cast<float>(down) + 0.5F) / 3) / kSide;
        const Colour c = view.edit(
            scene.at(view.left + u * (view.right - view.left), view.top + v * (view.bottom - view.top), view.parallax));
        sum = {sum.r + c.r, sum.g + c.g, sum.b + c.b};
      }
      const std::size_t k = at(x, y);
      out[k] = level(sum.r / 9);
      out[k + 1] = level(sum.g / 9);
      out[k + 2] = level(sum.b / 9);
    }
  }
  return out;
}

Thumbnail with_noise(Thumbnail pixels, std::uint32_t seed, float strength) {
  Random random(seed);
  for (auto& p : pixels) p = level(static_cast<float>(p) + (random.next() - 0.5F) * strength);
  return pixels;
}

Thumbnail solid(std::uint8_t r, std::uint8_t g, std::uint8_t b) {
  Thumbnail out;
  for (std::size_t i = 0; i < kThumbnailBytes; i += 3) {
    out[i] = r;
    out[i + 1] = g;
    out[i + 2] = b;
  }
  return out;
}

View brightened(float gain) {
  View v;
  v.edit = [gain](Colour c) { return Colour{c.r * gain, c.g * gain, c.b * gain}; };
  return v;
}

View channels_turned() {
  View v;
  v.edit = [](Colour c) { return Colour{c.b, c.r, c.g}; };
  return v;
}

View inverted() {
  View v;
  v.edit = [](Colour c) { return Colour{255 - c.r, 255 - c.g, 255 - c.b}; };
  return v;
}

View contrast_curve() {
  View v;
  v.edit = [](Colour c) {
    const auto f = [](float x) { return x * (1.4F - 0.4F * x / 255); };
    return Colour{f(c.r), f(c.g), f(c.b)};
  };
  return v;
}

constexpr std::uint32_t kScenes = 24;

TEST(Similarity, EditsOfOnePictureAreTheSame) {
  View cropped, one_sided;
  cropped.left = cropped.top = 0.05F;
  cropped.right = cropped.bottom = 0.95F;
  one_sided.left = 0.08F;
  one_sided.bottom = 0.97F;
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) {
    const Scene scene(seed);
    const Features base = features_of(render(scene));
    const auto verdict = [&](const Thumbnail& t) { return compare(base, features_of(t)); };
    EXPECT_EQ(verdict(with_noise(render(scene), seed, 12)).kind, SimilarityKind::same) << seed;
    EXPECT_EQ(verdict(render(scene, cropped)).kind, SimilarityKind::same) << seed;
    EXPECT_EQ(verdict(render(scene, one_sided)).kind, SimilarityKind::same) << seed;
    EXPECT_EQ(verdict(render(scene, brightened(1.15F))).kind, SimilarityKind::same) << seed;
    EXPECT_EQ(verdict(render(scene, contrast_curve())).kind, SimilarityKind::same) << seed;
  }
}

TEST(Similarity, AnOverlaySpoilsOnlyItsTiles) {
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) {
    const Scene scene(seed);
    Thumbnail marked = render(scene);
    for (int y = 29; y < 35; ++y) {
      for (int x = 12; x < 52; ++x) {
        for (int c = 0; c < 3; ++c) {
          auto& p = marked[at(x, y) + static_cast<std::size_t>(c)];
          if ((x / 2 + y / 3) % 2 == 0) p = static_cast<std::uint8_t>((p + 255) / 2);
        }
      }
    }
    EXPECT_EQ(compare_pixels(render(scene), marked).kind, SimilarityKind::same) << seed;
  }
}

TEST(Similarity, DifferentPicturesAreDifferent) {
  std::vector<Features> all;
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) all.push_back(features_of(render(Scene(seed))));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      EXPECT_NE(compare(all[i], all[k]).kind, SimilarityKind::same) << i << " " << k;
    }
  }
}

TEST(Similarity, OtherColoursAreRecoloured) {
  int recoloured = 0;
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) {
    const Scene scene(seed);
    const Thumbnail base = render(scene);
    for (const View& view : {channels_turned(), inverted()}) {
      const Comparison v = compare_pixels(base, render(scene, view));
      EXPECT_NE(v.kind, SimilarityKind::same) << seed;
      recoloured += v.kind == SimilarityKind::recoloured;
    }
  }
  // The answer is `different` where the luma has changed beyond recognition.
  EXPECT_GE(recoloured, static_cast<int>(kScenes));
}

TEST(Similarity, AnotherViewIsDifferent) {
  int distinguished = 0;
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) {
    const Scene scene(seed);
    View view;
    view.parallax = 0.02F;
    distinguished += compare_pixels(render(scene), render(scene, view)).kind == SimilarityKind::different;
  }
  EXPECT_GE(distinguished, static_cast<int>(kScenes) - 2);
}

TEST(Similarity, SolidPicturesCompareByColour) {
  EXPECT_EQ(compare_pixels(solid(200, 30, 30), solid(203, 29, 28)).kind, SimilarityKind::same);
  EXPECT_EQ(compare_pixels(solid(200, 30, 30), solid(30, 200, 30)).kind, SimilarityKind::different);
  EXPECT_EQ(compare_pixels(solid(0, 0, 0), solid(255, 255, 255)).kind, SimilarityKind::different);
  EXPECT_EQ(compare_pixels(solid(90, 90, 90), render(Scene(1))).kind, SimilarityKind::different);
  EXPECT_TRUE(features_of(with_noise(solid(90, 90, 90), 1, 3)).solid);
  EXPECT_FALSE(features_of(render(Scene(1))).solid);
}

TEST(Similarity, FeaturesAreMeansAndDeviations) {
  Thumbnail half = solid(10, 20, 30);
  for (std::size_t i = 0; i < kThumbnailBytes / 2; ++i) half[i] = static_cast<std::uint8_t>(half[i] + 100);
  const Features f = features_of(half);
  EXPECT_EQ(f.mean, (std::array<float, 3>{60, 70, 80}));
  EXPECT_EQ(f.deviation, (std::array<float, 3>{50, 50, 50}));
}

TEST(Similarity, AFrameIsSeenPast) {
  int same = 0;
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) {
    View shrunk;
    shrunk.left = shrunk.top = -1.0F / 14;
    shrunk.right = shrunk.bottom = 1 + 1.0F / 14;
    Thumbnail framed = render(Scene(seed), shrunk);
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        if (std::min(std::min(x, y), kSide - 1 - std::max(x, y)) >= 4) continue;
        for (int c = 0; c < 3; ++c) framed[at(x, y) + static_cast<std::size_t>(c)] = 255;
      }
    }
    EXPECT_EQ(features_of(framed).content, (std::array<float, 4>{-0.4375F, -0.4375F, 0.4375F, 0.4375F}));
    same += compare_pixels(render(Scene(seed)), framed).kind == SimilarityKind::same;
  }
  EXPECT_GE(same, static_cast<int>(kScenes) - 1);
}

TEST(Similarity, SoftSlopesDiffer) {
  // Skies: colours that change slowly, each in its own direction.
  std::vector<Features> skies;
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) {
    Random random(seed);
    const float tilt = random.next() - 0.5F, bend = random.next(), start = 60 + 40 * random.next();
    Thumbnail out;
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const float u = static_cast<float>(x) / kSide, v = static_cast<float>(y) / kSide;
        const float l = start + 90 * v + 80 * tilt * u + 60 * bend * (u - 0.5F) * (u - v);
        const std::size_t k = at(x, y);
        out[k] = level(l * 0.7F);
        out[k + 1] = level(l * 0.9F);
        out[k + 2] = level(l * 1.1F);
      }
    }
    skies.push_back(features_of(with_noise(out, seed, 6)));
  }
  for (std::size_t i = 0; i < skies.size(); ++i) {
    for (std::size_t k = i + 1; k < skies.size(); ++k) {
      const Comparison v = compare(skies[i], skies[k]);
      EXPECT_TRUE(v.kind != SimilarityKind::same || v.structure >= 0.86F) << i << " " << k;
    }
  }
}

// Also tests that same() agrees with compare().
TEST(Similarity, SymmetricAndReflexiveInEveryBit) {
  std::vector<Features> all;
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const Scene scene(seed);
    all.push_back(features_of(render(scene)));
    all.push_back(features_of(render(scene, brightened(1.2F))));
    all.push_back(features_of(render(scene, channels_turned())));
    all.push_back(features_of(with_noise(render(scene), seed, 20)));
  }
  all.push_back(features_of(solid(1, 2, 3)));
  for (const Features& a : all) {
    for (const Features& b : all) {
      const Comparison ab = compare(a, b), ba = compare(b, a);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(ab.score), std::bit_cast<std::uint32_t>(ba.score));
      EXPECT_EQ(ab, ba);
      EXPECT_EQ(ab.score >= 0.5F, ab.kind == SimilarityKind::same);
      EXPECT_EQ(same(a, b), ab.kind == SimilarityKind::same);
      EXPECT_GE(ab.score, 0.0F);
      EXPECT_LE(ab.score, 1.0F);
    }
    EXPECT_EQ(compare(a, a).score, 1.0F);
  }
}

TEST(Similarity, FlatHalvesAndExtremesGiveFiniteFigures) {
  Thumbnail edge = solid(0, 0, 0), dot = solid(255, 255, 255);
  for (std::size_t i = 0; i < kThumbnailBytes / 2; ++i) edge[i] = 255;
  dot[3 * (32 * 64 + 32)] = 0;
  Thumbnail noise = with_noise(solid(128, 128, 128), 3, 255);
  for (const Thumbnail& a : {edge, dot, noise, solid(0, 0, 0)}) {
    for (const Thumbnail& b : {edge, dot, noise, render(Scene(4))}) {
      const Comparison v = compare_pixels(a, b);
      for (const float f : {v.score, v.coarse, v.fit, v.overlap, v.structure, v.correlation, v.movement, v.moved_share,
                            v.chroma, v.tone, v.contrast}) {
        EXPECT_TRUE(std::isfinite(f));
      }
    }
  }
}

TEST(Similarity, AThumbnailIsTurnedAsItsPictureIs) {
  Thumbnail numbered;
  for (std::size_t i = 0; i < kThumbnailBytes; ++i) {
    numbered[i] = static_cast<std::uint8_t>((i * 2654435761U) >> 13);
  }
  EXPECT_EQ(oriented(numbered, Orientation::upright), numbered);
  const auto pixel = [](const Thumbnail& t, int x, int y) { return t[at(x, y)]; };
  const Thumbnail turned = oriented(numbered, Orientation::rotated_90);
  for (int y = 0; y < kSide; ++y) {
    // A rotation by 90 degrees clockwise brings the left column to the top row.
    for (int x = 0; x < kSide; ++x) EXPECT_EQ(pixel(turned, x, y), pixel(numbered, y, kSide - 1 - x));
  }
  for (const Orientation o : kOrientations) {
    for (const Orientation other : kOrientations) {
      EXPECT_EQ(o == other, oriented(numbered, o) == oriented(numbered, other));
    }
  }
}

// Returns a hash of the bits of 120 verdicts, as GCC 12 and Clang 14 compute them with and without optimization.
std::uint64_t bits_of_verdicts() {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](float f) {
    std::uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    for (int k = 0; k < 4; ++k) hash = (hash ^ ((bits >> (8 * k)) & 255U)) * 1099511628211ULL;
  };
  View cropped;
  cropped.left = 0.04F;
  cropped.bottom = 0.93F;
  View other;
  other.parallax = 0.015F;
  for (std::uint32_t seed = 100; seed < 120; ++seed) {
    const Scene scene(seed);
    const Features base = features_of(render(scene));
    for (const Thumbnail& t :
         {render(scene, cropped), render(scene, brightened(1.3F)), render(scene, channels_turned()),
          render(scene, other), with_noise(render(scene), seed, 30), render(Scene(seed + 1))}) {
      const Comparison v = compare(base, features_of(t));
      for (const float f : {static_cast<float>(v.kind), v.score, v.coarse, v.fit, v.overlap, v.structure, v.correlation,
                            v.movement, v.moved_share, v.chroma, v.tone, v.contrast}) {
        mix(f);
      }
    }
  }
  return hash;
}

TEST(Similarity, TheSameBitsEverywhere) {
  at_every_cpu_level([] { EXPECT_EQ(bits_of_verdicts(), 2976830018014670248ULL); });
}

}  // namespace
}  // namespace millrace::similarity
