#include <algorithm>
#include <cmath>

#include "src/kernels/alike/alike_steps.h"

namespace millrace::alike {
namespace {

constexpr float kBlack = 4, kWhite = 251;  // beyond these a level may have been clipped

bool clipped(float level) { return level < kBlack || level > kWhite; }

// Solves 4 x 4 by elimination with a ridge that keeps every pivot positive.
std::array<double, 4> solve4(std::array<std::array<double, 4>, 4> h, std::array<double, 4> x) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t r = i + 1; r < 4; ++r) {
      const double f = h[r][i] / h[i][i];
      for (std::size_t c = i; c < 4; ++c) h[r][c] -= f * h[i][c];
      x[r] -= f * x[i];
    }
  }
  for (std::size_t i = 4; i-- > 0;) {
    for (std::size_t c = i + 1; c < 4; ++c) x[i] -= h[i][c] * x[c];
    x[i] /= h[i][i];
  }
  return x;
}

}  // namespace

Colours colours_at(const Features& a, const Features& b, const Warp& warp) {
  Colours out;
  const auto& m = warp.m;
  for (std::size_t k = 0; k < kPlaces; ++k) {
    const std::size_t x = k % 16 * 2, y = k / 16 * 2;
    std::array<float, 3> sum{};
    bool in = true;
    // The same four samples of both: one sample of the second would be sharper than their mean wherever a scale brings
    // it onto a pixel, and fine coloured texture then looks like another colour.
    for (std::size_t s = 0; s < 4; ++s) {
      const std::size_t sx = x + s % 2, sy = y + s / 2;
      const float rx = (static_cast<float>(sx) + 0.5F) * (1.0F / 32.0F) - 0.5F;
      const float ry = (static_cast<float>(sy) + 0.5F) * (1.0F / 32.0F) - 0.5F;
      const float px = (m[0] + m[1] * rx + m[2] * ry + 0.5F) * 32.0F - 0.5F;
      const float py = (m[3] + m[4] * rx + m[5] * ry + 0.5F) * 32.0F - 0.5F;
      in = in && px >= -0.5F && px <= 31.5F && py >= -0.5F && py <= 31.5F;
      const float hx = px < 0 ? 0.0F : (px > 31 ? 31.0F : px);
      const float hy = py < 0 ? 0.0F : (py > 31 ? 31.0F : py);
      const int ix = std::min(30, static_cast<int>(hx)), iy = std::min(30, static_cast<int>(hy));
      const float qx = hx - static_cast<float>(ix), qy = hy - static_cast<float>(iy);
      const std::size_t at = static_cast<std::size_t>(iy) * 32 + static_cast<std::size_t>(ix);
      for (std::size_t c = 0; c < 3; ++c) {
        const float* p = b.colour[c].data() + at;
        const float upper = p[0] + qx * (p[1] - p[0]), lower = p[32] + qx * (p[33] - p[32]);
        sum[c] += upper + qy * (lower - upper);
      }
    }
    out.inside[k] = in ? 1.0F : 0.0F;
    for (std::size_t c = 0; c < 3; ++c) {
      const float* q = a.colour[c].data() + y * 32 + x;
      out.a[c][k] = 0.25F * ((q[0] + q[1]) + (q[32] + q[33]));
      out.b[c][k] = 0.25F * sum[c];
    }
  }
  return out;
}

Tone fit_tone(const Colours& colours) {
  // A clipped level has lost what the other picture may still tell, so the curve leads from the
  // picture with fewer of them.
  int clipped_a = 0, clipped_b = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < kPlaces; ++i) {
      if (colours.inside[i] == 0) continue;
      clipped_a += clipped(colours.a[c][i]);
      clipped_b += clipped(colours.b[c][i]);
    }
  }
  Tone tone;
  tone.from_second = clipped_b <= clipped_a;
  const auto& source = tone.from_second ? colours.b : colours.a;
  const auto& target = tone.from_second ? colours.a : colours.b;
  // Pairs of levels fall into 64 bins of the source: 64 sums make the equations.
  for (int round = 0; round < 3; ++round) {
    std::array<std::array<double, 4>, 4> h{};
    std::array<double, 4> x{};
    std::array<double, 64> count{}, sum_t{}, sum_v{};
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < kPlaces; ++i) {
        const float s = source[c][i], t = target[c][i];
        if (colours.inside[i] == 0) continue;
        if (clipped(t)) {
          // A clipped level says only that the curve is at least there: it counts where the curve
          // is not.
          const float raw = tone.unheld(s);
          if (round == 0 || (t > 128 ? raw >= t : raw <= t)) continue;
        }
        float weight = 1;
        if (round > 0) {
          const float e = (tone(s) - t) * (1.0F / 12.0F);
          const float r = 1.0F / (1.0F + e * e);
          weight = r * r;
        }
        const auto bin = static_cast<std::size_t>(s * 0.25F);
        count[bin] += static_cast<double>(weight);
        sum_t[bin] += static_cast<double>(weight * t);
        sum_v[bin] += static_cast<double>(weight * s);
      }
    }
    double samples = 0;
    for (std::size_t k = 0; k < 64; ++k) {
      if (count[k] <= 0) continue;
      const double v = sum_v[k] / count[k] / 255.0;
      const std::array<double, 4> power = {1, v, v * v, v * v * v};
      for (std::size_t p = 0; p < 4; ++p) {
        for (std::size_t q = 0; q < 4; ++q) h[p][q] += count[k] * power[p] * power[q];
        x[p] += sum_t[k] * power[p];
      }
      samples += count[k];
    }
    // Ridges towards identity in proportion to the samples: bias and gain are almost free, bends
    // are not where few levels speak for them.
    constexpr std::array<double, 4> kHome = {0, 255, 0, 0};
    constexpr std::array<double, 4> kRidge = {2e-3, 5e-4, 5e-4, 5e-4};
    for (std::size_t p = 0; p < 4; ++p) {
      const double ridge = kRidge[p] * (samples + 1);
      h[p][p] += ridge;
      x[p] += ridge * kHome[p];
    }
    const auto c = solve4(h, x);
    for (std::size_t p = 0; p < 4; ++p) tone.c[p] = static_cast<float>(c[p]);
  }
  // A curve that falls anywhere on the levels in use is no edit of tone; a straight line is the
  // nearest honest description then.
  float low = 255, high = 0;
  Lanes squares, count, from, from2, to, to2;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < kPlaces; ++i) {
      if (colours.inside[i] == 0) continue;
      const float s = source[c][i], t = tone(s), move = t - s;
      low = std::min(low, s);
      high = std::max(high, s);
      squares.lane[i % 8] += move * move;
      from.lane[i % 8] += s;
      from2.lane[i % 8] += s * s;
      to.lane[i % 8] += t;
      to2.lane[i % 8] += t * t;
      count.lane[i % 8] += 1;
    }
  }
  const float n = count.total() + 1e-3F;
  const float mf = from.total() / n, mt = to.total() / n;
  tone.distance = std::sqrt(squares.total() / n);
  tone.contrast = std::sqrt((std::max(0.0F, to2.total() / n - mt * mt) + 1.0F) /
                            (std::max(0.0F, from2.total() / n - mf * mf) + 1.0F));
  for (int k = 0; k <= 16; ++k) {
    const float v = (low + (high - low) * static_cast<float>(k) * (1.0F / 16.0F)) * (1.0F / 255.0F);
    if (tone.c[1] + v * (2 * tone.c[2] + v * 3 * tone.c[3]) < 0) {
      tone.c = {0, 255, 0, 0};
      break;
    }
  }
  return tone;
}

float chroma_difference(const Colours& colours, const Tone& tone) {
  const auto& source = tone.from_second ? colours.b : colours.a;
  const auto& target = tone.from_second ? colours.a : colours.b;
  const auto& inside = colours.inside;
  constexpr std::size_t n = kPlaces;
  std::array<float, n> su, sv, tu, tv;
  for (std::size_t k = 0; k < n; ++k) {
    const float r = tone(source[0][k]), g = tone(source[1][k]), b = tone(source[2][k]);
    su[k] = r - g;
    sv[k] = b - g;
    tu[k] = target[0][k] - target[1][k];
    tv[k] = target[2][k] - target[1][k];
  }
  Lanes cross, square;
  for (std::size_t k = 0; k < n; ++k) {
    cross.lane[k % 8] += inside[k] * (su[k] * tu[k] + sv[k] * tv[k]);
    square.lane[k % 8] += inside[k] * (su[k] * su[k] + sv[k] * sv[k]);
  }
  // One change of saturation is forgiven. A grey copy is not: then there is no colour left to
  // compare.
  const float saturation = std::clamp(cross.total() / (square.total() + 256.0F), 0.5F, 2.0F);
  // Differences are averaged over 2 x 2 places, in which the noise of fine coloured detail cancels
  // and a recolouring does not; how colourful they are is not averaged.
  constexpr std::size_t kCells = 64;
  std::array<float, kCells> du{}, dv{}, size{}, count{};
  for (std::size_t k = 0; k < n; ++k) {
    if (inside[k] == 0) continue;
    const std::size_t cell = (k / 32) * 8 + (k % 16) / 2;
    du[cell] += tu[k] - saturation * su[k];
    dv[cell] += tv[k] - saturation * sv[k];
    size[cell] +=
        0.5F * (std::sqrt(tu[k] * tu[k] + tv[k] * tv[k]) + saturation * std::sqrt(su[k] * su[k] + sv[k] * sv[k]));
    count[cell] += 1;
  }
  // The worst fifth of the differences is dropped, by a histogram: sorting would leave the order of
  // the sum to the library.
  std::array<float, 512> histogram{};
  std::array<float, kCells> difference;
  float covered = 0;
  for (std::size_t k = 0; k < kCells; ++k) {
    difference[k] = std::sqrt(du[k] * du[k] + dv[k] * dv[k]);  // of the cell's sum
    if (count[k] == 0) continue;
    histogram[static_cast<std::size_t>(std::min(511.0F, difference[k] / count[k]))] += count[k];
    covered += count[k];
  }
  float kept = 0;
  std::size_t limit = 0;
  while (limit < 511 && (kept += histogram[limit]) * 5 < covered * 4) ++limit;
  float sum = 0, scale = 0, used = 0;
  for (std::size_t k = 0; k < kCells; ++k) {
    if (count[k] == 0 || difference[k] / count[k] >= static_cast<float>(limit + 1)) continue;
    sum += difference[k];
    scale += size[k];
    used += count[k];
  }
  // Twenty levels keep the noise of compression on a nearly grey picture from looking like another
  // colour.
  return used > 0 ? sum / (scale + 20.0F * used) : 1.0F;
}

}  // namespace millrace::alike
