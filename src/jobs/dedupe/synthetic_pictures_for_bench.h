// Input: the number of a picture in an endless synthetic collection.
// Output: that picture, squeezed to 64 x 64 pixels as the verifier compares it.
// Never: draws the same picture for two numbers.
//
// A picture consists of waves with a falling spectrum, a gradient of light, and overlapping ellipses. (Amplitudes of
// photographs fall as 1 / frequency.) Some pictures have a horizon. Some show one object on a plain ground, like
// pictures of shops and stickers. The shares and strengths are fitted to a real folder: distances of hashes between
// unrelated pictures have the same distribution. `dedupe_scale_bench distances` prints both.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "src/kernels/similarity/similarity.h"

namespace millrace::dedupe::synthetic {

class Random {
 public:
  // The seed is mixed first, since generators of consecutive seeds would only be one step apart.
  explicit Random(std::uint64_t seed) : state_(mixed(seed * 0x9E3779B97F4A7C15U)) {}
  std::uint64_t next() { return mixed(state_ += 0x9E3779B97F4A7C15U); }  // splitmix64
  float part() { return static_cast<float>(next() >> 40) * 0x1p-24F; }   // 0 to 1
  float spread() {                                                       // about normal, deviation 1
    return (part() + part() + part() + part() - 2) * 1.7320508F;
  }
  bool chance(float p) { return part() < p; }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
  }
  std::uint64_t state_;
};

inline constexpr int kSide = similarity::kSide;
using Plane = std::array<float, std::size_t{kSide} * kSide>;

struct Picture {
  std::array<Plane, 3> rgb;
};

// Adds a wave of `cycles` across the picture in direction (cx, cy).
inline void add_wave(Picture& picture, float cx, float cy, float phase, const std::array<float, 3>& strength) {
  constexpr float kTurn = 6.2831853F;
  // Computes the cos and sin of `phase` and of steps of `turn` from it, each from the one before.
  const auto fill = [](float turn, float phase0, std::array<float, kSide>& cosine, std::array<float, kSide>& sine) {
    const float step_cos = std::cos(turn), step_sin = std::sin(turn);
    float c = std::cos(phase0), v = std::sin(phase0);
    for (std::size_t i = 0; i < kSide; ++i) {
      cosine[i] = c;
      sine[i] = v;
      const float next = c * step_cos - v * step_sin;
      v = v * step_cos + c * step_sin;
      c = next;
    }
  };
  std::array<float, kSide> cos_x, sin_x, cos_y, sin_y;
  fill(kTurn * cx / kSide, phase, cos_x, sin_x);
  fill(kTurn * cy / kSide, 0, cos_y, sin_y);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t y = 0; y < kSide; ++y) {
      const float a = strength[c] * cos_y[y], b = strength[c] * sin_y[y];
      float* row = picture.rgb[c].data() + y * kSide;
      for (std::size_t x = 0; x < kSide; ++x) row[x] += a * cos_x[x] - b * sin_x[x];
    }
  }
}

inline void add_ellipse(Picture& picture, Random& random, float size) {
  const float x0 = kSide * random.part(), y0 = kSide * random.part();
  const float rx = kSide * size * (0.3F + random.part()), ry = kSide * size * (0.3F + random.part());
  std::array<float, 3> colour;
  const float light = 45 * random.spread();
  for (float& v : colour) v = light + 15 * random.spread();
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const float dx = (static_cast<float>(x) - x0) / rx, dy = (static_cast<float>(y) - y0) / ry;
      const float cover = std::clamp(8 * (1 - dx * dx - dy * dy), 0.0F, 1.0F);
      if (cover == 0) continue;
      const auto at = static_cast<std::size_t>(y) * kSide + static_cast<std::size_t>(x);
      for (std::size_t c = 0; c < 3; ++c) picture.rgb[c][at] += cover * (colour[c] - 0.7F * picture.rgb[c][at]);
    }
  }
}

struct Fit {
  float fall = 1.6F, fall_spread = 0.25F;  // exponent of the spectrum, and its deviation
  float waves = 30;                        // their strength, in levels
  float slope = 25, horizon = 0.3F;
  float object = 0.10F;  // share of pictures of one object on a plain ground
  float flat = 0.02F;    // share with next to no contrast
  // Series of similar pictures: most pictures follow one of these layouts to some degree.
  float themes = 30, themed = 0.6F, own = 0.5F;
};

inline Picture draw_unthemed(std::uint64_t number, const Fit& fit) {
  Random random(number);
  Picture picture;
  const bool object = random.chance(fit.object);
  const float fall = fit.fall + fit.fall_spread * random.spread();
  std::array<float, 3> tint;
  for (float& t : tint) t = 0.85F + 0.15F * random.spread();
  const float slope_x = 0.4F * fit.slope * random.spread(), slope_y = fit.slope * random.spread();
  for (std::size_t y = 0; y < kSide; ++y) {
    for (std::size_t x = 0; x < kSide; ++x) {
      const float light =
          slope_x * (static_cast<float>(x) / kSide - 0.5F) + slope_y * (static_cast<float>(y) / kSide - 0.5F);
      for (auto& plane : picture.rgb) plane[y * kSide + x] = object ? 0.3F * light : light;
    }
  }
  if (random.chance(fit.horizon)) {
    const float at = kSide * (0.25F + 0.5F * random.part()), step = 40 * random.spread();
    for (std::size_t y = 0; y < kSide; ++y) {
      const float below = std::clamp(static_cast<float>(y) - at, -1.0F, 1.0F) * (object ? 0.0F : step);
      for (std::size_t x = 0; x < kSide; ++x) {
        for (auto& plane : picture.rgb) plane[y * kSide + x] += below;
      }
    }
  }
  const int waves = object ? 0 : 36;
  for (int w = 0; w < waves; ++w) {
    const float cycles = 0.5F * std::pow(28.0F, random.part());  // 0.5 to 14, evenly in octaves
    const float direction = 6.2831853F * random.part();
    const float strength = fit.waves * 0.6F * std::pow(cycles, 1 - fall) / std::sqrt(cycles);
    std::array<float, 3> each;
    for (std::size_t c = 0; c < 3; ++c) each[c] = strength * (tint[c] + 0.2F * random.spread());
    add_wave(picture, cycles * std::cos(direction), cycles * std::sin(direction), 6.2831853F * random.part(), each);
  }
  const int ellipses = object ? 3 + static_cast<int>(random.next() % 6) : static_cast<int>(random.next() % 8);
  for (int e = 0; e < ellipses; ++e) add_ellipse(picture, random, object ? 0.2F : 0.15F);
  const float mean = object ? 200.0F : 118 + 25 * random.spread();
  const float contrast = random.chance(fit.flat) ? 0.02F : std::exp(0.25F * random.spread());
  for (std::size_t c = 0; c < 3; ++c) {
    const float base = mean * (0.75F + 0.25F * tint[c]);
    for (float& v : picture.rgb[c]) v = base + contrast * v;
  }
  return picture;
}

inline Picture draw(std::uint64_t number, const Fit& fit = {}) {
  Picture picture = draw_unthemed(number, fit);
  Random random(~number);
  if (!random.chance(fit.themed)) return picture;
  constexpr std::uint64_t kThemes = std::uint64_t{1} << 40;  // numbers that no picture has
  const auto theme = static_cast<std::uint64_t>(random.part() * fit.themes);
  const float own = fit.own + (1 - fit.own) * random.part();
  const Picture layout = draw_unthemed(kThemes + theme, fit);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < picture.rgb[c].size(); ++i)
      picture.rgb[c][i] = own * picture.rgb[c][i] + (1 - own) * layout.rgb[c][i];
  }
  return picture;
}

inline similarity::Thumbnail pixels_of(const Picture& picture) {
  similarity::Thumbnail out;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < picture.rgb[c].size(); ++i)
      out[i * 3 + c] = static_cast<std::uint8_t>(std::lrint(std::clamp(picture.rgb[c][i], 0.0F, 255.0F)));
  }
  return out;
}

// Makes an edited version: other light and contrast, a cropped border, noise.
inline Picture make_edited_version(const Picture& original, std::uint64_t number) {
  Random random(number ^ 0xED17ED);
  const float gain = std::exp(0.12F * random.spread()), bias = 6 * random.spread();
  const float left = 0.04F * random.part(), top = 0.04F * random.part();
  const float scale_x = 1 - left - 0.04F * random.part(), scale_y = 1 - top - 0.04F * random.part();
  Picture out;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const float sx = kSide * left + static_cast<float>(x) * scale_x,
                  sy = kSide * top + static_cast<float>(y) * scale_y;
      const int ix = std::min(static_cast<int>(sx), kSide - 2), iy = std::min(static_cast<int>(sy), kSide - 2);
      const float fx = sx - static_cast<float>(ix), fy = sy - static_cast<float>(iy);
      const float noise = 2 * random.spread();
      const auto at = static_cast<std::size_t>(iy) * kSide + static_cast<std::size_t>(ix);
      for (std::size_t c = 0; c < 3; ++c) {
        const Plane& p = original.rgb[c];
        const float v =
            (1 - fy) * ((1 - fx) * p[at] + fx * p[at + 1]) + fy * ((1 - fx) * p[at + kSide] + fx * p[at + kSide + 1]);
        out.rgb[c][static_cast<std::size_t>(y) * kSide + static_cast<std::size_t>(x)] = gain * v + bias + noise;
      }
    }
  }
  return out;
}

// Returns the original if the picture is an edited version: a twentieth of the pictures are, each of one of the
// thousand before it.
inline std::optional<std::uint64_t> original_of(std::uint64_t number) {
  Random random(number ^ 0x5CA1E);
  if (number == 0 || !random.chance(0.05F)) return std::nullopt;
  return number - 1 - random.next() % std::min<std::uint64_t>(number, 1000);
}

// Draws a picture of the collection.
inline Picture picture(std::uint64_t number) {
  const auto original = original_of(number);
  return original ? make_edited_version(draw(*original), number) : draw(number);
}

}  // namespace millrace::dedupe::synthetic
