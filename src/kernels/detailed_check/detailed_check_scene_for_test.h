// Input: a seed, and the view of a scene.
// Output: a picture of that scene, for tests and benchmarks of the comparison.
// Never: the same scene for two seeds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "src/kernels/detailed_check/detailed_check.h"

namespace millrace::detailed_check {

struct Colours {
  float r = 0, g = 0, b = 0;
};

// Discs before a slope, with fine texture over both; positions are shares of the longer side.
class Scene {
 public:
  explicit Scene(unsigned seed) : random_(seed) {
    for (int i = 0; i < 70; ++i) {
      Disc d;
      d.x = next();
      d.y = next();
      d.radius = 0.01F + 0.09F * next() * next();
      d.colour = {255 * next(), 255 * next(), 255 * next()};
      discs_.push_back(d);
    }
    for (float& w : wave_) w = 40 + 160 * next();
  }
  Colours at(float x, float y) const {
    Colours out = {70 + 90 * x, 90 + 60 * y, 130 - 50 * x};
    for (const Disc& d : discs_) {
      const float dx = x - d.x, dy = y - d.y, far = std::sqrt(dx * dx + dy * dy);
      const float part = std::clamp((d.radius - far) * 400 + 0.5F, 0.0F, 1.0F);
      out.r += part * (d.colour.r - out.r);
      out.g += part * (d.colour.g - out.g);
      out.b += part * (d.colour.b - out.b);
    }
    const float texture = 12 * (wrapped(x * wave_[0] + y * wave_[1]) + wrapped(y * wave_[2] - x * wave_[3]));
    return {out.r + texture, out.g + texture, out.b + texture};
  }

 private:
  struct Disc {
    float x, y, radius;
    Colours colour;
  };
  // Triangle wave between -1 and 1.
  static float wrapped(float v) {
    const float part = v - std::floor(v);
    return 4 * std::fabs(part - 0.5F) - 1;
  }
  float next() { return static_cast<float>(random_() >> 8) * (1.0F / 16777216.0F); }

  std::mt19937 random_;
  std::vector<Disc> discs_;
  std::array<float, 4> wave_{};
};

// View of a scene: a window of it, each pixel the mean of two by two points.
struct SceneView {
  int width = 640, height = 480;
  float left = 0, top = 0, right = 1, bottom = 0.75F;
  float gain = 1, bias = 0, noise = 0;
  int frame = 0;  // width of a white frame, in pixels
  int note = -1;  // level of a line of strokes on the frame, below the picture
  float dot_x = -1, dot_y = -1, dot = 0;
  unsigned seed = 1;
};

inline PictureRaster show(const Scene& scene, const SceneView& shown) {
  PictureRaster out;
  out.width = out.full_width = shown.width + 2 * shown.frame;
  out.height = out.full_height = shown.height + 2 * shown.frame;
  std::mt19937 random(shown.seed);
  for (int y = -shown.frame; y < shown.height + shown.frame; ++y) {
    for (int x = -shown.frame; x < shown.width + shown.frame; ++x) {
      Colours sum;
      if (x < 0 || y < 0 || x >= shown.width || y >= shown.height) {
        sum = {255, 255, 255};
        // Strokes of two pixels, six apart, ten high.
        const int below = y - shown.height - shown.frame / 2;
        if (shown.note >= 0 && below >= -5 && below < 5 && x > shown.width / 3 && x < shown.width / 2 && x % 8 < 2)
          sum.r = sum.g = sum.b = static_cast<float>(shown.note);
      } else {
        for (int k = 0; k < 4; ++k) {
          const int across = k % 2, down = k / 2;
          const float u = shown.left + (shown.right - shown.left) *
                                           (static_cast<float>(x) + 0.25F + 0.5F * static_cast<float>(across)) /
                                           static_cast<float>(shown.width);
          const float v = shown.top + (shown.bottom - shown.top) *
                                          (static_cast<float>(y) + 0.25F + 0.5F * static_cast<float>(down)) /
                                          static_cast<float>(shown.height);
          Colours c = scene.at(u, v);
          if (std::hypot(u - shown.dot_x, v - shown.dot_y) < shown.dot) c = {230, 20, 20};
          sum.r += c.r * 0.25F;
          sum.g += c.g * 0.25F;
          sum.b += c.b * 0.25F;
        }
        const float add = shown.bias + shown.noise * (static_cast<float>(random() >> 8) * (2.0F / 16777216.0F) - 1);
        sum = {sum.r * shown.gain + add, sum.g * shown.gain + add, sum.b * shown.gain + add};
      }
      for (const float v : {sum.r, sum.g, sum.b})
        out.rgb.push_back(static_cast<std::uint8_t>(std::clamp(v + 0.5F, 0.0F, 255.0F)));
    }
  }
  return out;
}

inline Verdict compare(const PictureRaster& a, const PictureRaster& b,
                       const std::optional<std::array<float, 6>>& start = {}) {
  return DetailedComparator().compare(PreparedPicture(a), PreparedPicture(b), start);
}

}  // namespace millrace::detailed_check
