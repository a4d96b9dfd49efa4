#include <algorithm>
#include <cmath>

#include "src/kernels/alike/alike_steps.h"

namespace millrace::alike {
namespace {

// Whether `at` lies on an edge of a frame: half a pixel outside of it, `width` pixels inside.
template <int N>
bool on_edge(float at, float low, float high) {
  // At 32 the luma is blurred by a pixel.
  constexpr float kWidth = (N == 32 ? 2.0F : 1.5F) / static_cast<float>(N);
  constexpr float kOutside = 0.5F / static_cast<float>(N);
  return (low > -0.5F && at > low - kOutside && at < low + kWidth) ||
         (high < 0.5F && at < high + kOutside && at > high - kWidth);
}

template <int N>
void leave_out_frame_edges(const Frames& frames, const Warp& warp,
                           std::array<float, static_cast<std::size_t>(N) * N>& inside) {
  const auto& m = warp.m;
  for (int y = 0; y < N; ++y) {
    const float ry = (static_cast<float>(y) + 0.5F) / static_cast<float>(N) - 0.5F;
    for (int x = 0; x < N; ++x) {
      const float rx = (static_cast<float>(x) + 0.5F) / static_cast<float>(N) - 0.5F;
      const float bx = m[0] + m[1] * rx + m[2] * ry, by = m[3] + m[4] * rx + m[5] * ry;
      if (on_edge<N>(rx, frames.a[0], frames.a[2]) || on_edge<N>(ry, frames.a[1], frames.a[3]) ||
          on_edge<N>(bx, frames.b[0], frames.b[2]) || on_edge<N>(by, frames.b[1], frames.b[3])) {
        inside[static_cast<std::size_t>(y * N + x)] = 0;
      }
    }
  }
}

}  // namespace

Frames::Frames(const Features& first, const Features& second) : a(first.content), b(second.content) {
  for (const auto* content : {&a, &b}) {
    any = any || (*content)[0] > -0.5F || (*content)[1] > -0.5F || (*content)[2] < 0.5F || (*content)[3] < 0.5F;
  }
}

template <int N>
void resample(const std::array<float, static_cast<std::size_t>(N) * N>& image, const Frames& frames, const Warp& warp,
              std::array<float, static_cast<std::size_t>(N) * N>& values,
              std::array<float, static_cast<std::size_t>(N) * N>& inside) {
  constexpr float n = static_cast<float>(N);
  const auto& m = warp.m;
  for (int y = 0; y < N; ++y) {
    const float ry = (static_cast<float>(y) + 0.5F) / n - 0.5F;
    const float fx = (m[0] + m[2] * ry + 0.5F) * n - 0.5F;
    const float fy = (m[3] + m[5] * ry + 0.5F) * n - 0.5F;
    const float dx = m[1] * n, dy = m[4] * n;
    for (int x = 0; x < N; ++x) {
      const float rx = (static_cast<float>(x) + 0.5F) / n - 0.5F;
      const float px = fx + dx * rx, py = fy + dy * rx;
      const bool in = px >= -0.5F && px <= n - 0.5F && py >= -0.5F && py <= n - 0.5F;
      const float hx = px < 0 ? 0.0F : (px > n - 1 ? n - 1 : px);
      const float hy = py < 0 ? 0.0F : (py > n - 1 ? n - 1 : py);
      const int ix = std::min(N - 2, static_cast<int>(hx));
      const int iy = std::min(N - 2, static_cast<int>(hy));
      const float qx = hx - static_cast<float>(ix), qy = hy - static_cast<float>(iy);
      const float* p = image.data() + iy * N + ix;
      const float upper = p[0] + qx * (p[1] - p[0]);
      const float lower = p[N] + qx * (p[N + 1] - p[N]);
      const auto k = static_cast<std::size_t>(y * N + x);
      values[k] = upper + qy * (lower - upper);
      inside[k] = in ? 1.0F : 0.0F;
    }
  }
  if (frames.any) leave_out_frame_edges<N>(frames, warp, inside);
}
template void resample<32>(const std::array<float, 1024>&, const Frames&, const Warp&, std::array<float, 1024>&,
                           std::array<float, 1024>&);
template void resample<64>(const std::array<float, 4096>&, const Frames&, const Warp&, std::array<float, 4096>&,
                           std::array<float, 4096>&);

namespace {

// Solves the symmetric system in place by Cholesky's method; false when it is not positive.
template <std::size_t kUnknowns>
bool solve(std::array<std::array<double, kUnknowns>, kUnknowns>& h, std::array<double, kUnknowns>& x) {
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = h[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= h[i][k] * h[j][k];
      if (i == j) {
        if (!(sum > 0)) return false;
        h[i][i] = std::sqrt(sum);
      } else {
        h[i][j] = sum / h[j][j];
      }
    }
  }
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= h[i][k] * x[k];
    x[i] /= h[i][i];
  }
  for (std::size_t i = kUnknowns; i-- > 0;) {
    for (std::size_t k = i + 1; k < kUnknowns; ++k) x[i] -= h[k][i] * x[k];
    x[i] /= h[i][i];
  }
  return true;
}

// Gradients in levels per picture side.
template <int N>
struct Slopes {
  std::array<float, static_cast<std::size_t>(N) * N> x, y;
};

template <int N>
void slopes_of(const std::array<float, static_cast<std::size_t>(N) * N>& image, Slopes<N>& out) {
  constexpr int n = N;
  for (int y = 0; y < n; ++y) {
    const int y0 = y > 0 ? y - 1 : 0, y1 = y < n - 1 ? y + 1 : n - 1;
    for (int x = 0; x < n; ++x) {
      const int x0 = x > 0 ? x - 1 : 0, x1 = x < n - 1 ? x + 1 : n - 1;
      const auto k = static_cast<std::size_t>(y * n + x);
      const float* p = image.data();
      out.x[k] = (p[y * n + x1] - p[y * n + x0]) * (static_cast<float>(N) / static_cast<float>(x1 - x0));
      out.y[k] = (p[y1 * n + x] - p[y0 * n + x]) * (static_cast<float>(N) / static_cast<float>(y1 - y0));
    }
  }
}

}  // namespace

template <int N>
Registered register_luma(const std::array<float, static_cast<std::size_t>(N) * N>& a,
                         const std::array<float, static_cast<std::size_t>(N) * N>& b, const Frames& frames,
                         const Warp& start, bool inverted, int steps) {
  constexpr std::size_t kUnknowns = 8;  // six of position, gain, bias
  constexpr std::size_t kTerms = kUnknowns * (kUnknowns + 1) / 2 + kUnknowns;
  constexpr std::size_t kPoints = static_cast<std::size_t>(N) * N;
  constexpr float kPixel = 1.0F / static_cast<float>(N);
  Registered out{start, 0};
  Warp& warp = out.warp;
  float gain = inverted ? -1.0F : 1.0F, bias = inverted ? 255.0F : 0.0F;
  // Widths of the priors: what edits do. Shift and scale 8 %, turn and shear 3 %, gain 0.5,
  // bias 64.
  constexpr std::array<double, 8> kWidth = {0.08, 0.08, 0.03, 0.08, 0.03, 0.08, 0.5, 64};
  const std::array<float, 8> home = {0, 1, 0, 0, 0, 1, gain, bias};
  std::array<float, kPoints> moved, inside, error;
  Slopes<N> slopes;
  for (int step = 0; step < steps; ++step) {
    resample<N>(b, frames, warp, moved, inside);
    slopes_of<N>(moved, slopes);
    // The scale of the residuals: their mean size where there are slopes. Over all of a flat design
    // it would be so small that every edge out of place looked like an outlier.
    Lanes size, steep, count;
    for (std::size_t i = 0; i < kPoints; i += 8) {
      for (std::size_t l = 0; l < 8; ++l) {
        const float e = gain * moved[i + l] + bias - a[i + l];
        const float slope = inside[i + l] * (std::fabs(slopes.x[i + l]) + std::fabs(slopes.y[i + l]));
        error[i + l] = e;
        size.lane[l] += slope * std::fabs(e);
        steep.lane[l] += slope;
        count.lane[l] += inside[i + l];
      }
    }
    const float covered = count.total();
    if (covered < 0.25F * kPoints) return Registered{start, 0};
    // The first steps start far off, so everything may speak; later ones trust what fits.
    const float width = (N == 64 ? 1.0F : (step < 2 ? 3.0F : 1.5F)) * (size.total() / (steep.total() + 1.0F)) + 1.0F;
    const float narrow = 1.0F / (width * width);

    std::array<Lanes, kTerms> sum{};
    Lanes fit, weights, level, square;
    for (std::size_t i = 0; i < kPoints; i += 8) {
      std::array<std::array<float, 8>, kUnknowns> j;
      std::array<float, 8> w, e;
      const float ry = (static_cast<float>(i / N) + 0.5F) * kPixel - 0.5F;
      for (std::size_t l = 0; l < 8; ++l) {
        const float rx = (static_cast<float>(i % N + l) + 0.5F) * kPixel - 0.5F;
        // Slopes are taken after warping; the warp is near identity, so they serve for both
        // rasters.
        const float gx = gain * slopes.x[i + l], gy = gain * slopes.y[i + l];
        j[0][l] = gx;
        j[1][l] = gx * rx;
        j[2][l] = gx * ry;
        j[3][l] = gy;
        j[4][l] = gy * rx;
        j[5][l] = gy * ry;
        j[6][l] = moved[i + l];
        j[7][l] = 1;
        e[l] = error[i + l];
        const float r = 1.0F / (1.0F + e[l] * e[l] * narrow);
        w[l] = inside[i + l] * r * r;
        fit.lane[l] += w[l] * e[l] * e[l];
        weights.lane[l] += w[l];
        const float v = a[i + l] - 128.0F;
        level.lane[l] += inside[i + l] * v;
        square.lane[l] += inside[i + l] * v * v;
      }
      std::size_t term = 0;
      for (std::size_t p = 0; p < kUnknowns; ++p) {
        std::array<float, 8> wj;
        for (std::size_t l = 0; l < 8; ++l) wj[l] = w[l] * j[p][l];
        for (std::size_t q = 0; q <= p; ++q, ++term) {
          for (std::size_t l = 0; l < 8; ++l) sum[term].lane[l] += wj[l] * j[q][l];
        }
        for (std::size_t l = 0; l < 8; ++l) sum[term].lane[l] += wj[l] * e[l];
        ++term;
      }
    }
    const float misfit = fit.total() / (weights.total() + 1e-3F);
    const float mean = level.total() / covered;
    out.fit = 1.0F - misfit / (square.total() / covered - mean * mean + 4.0F);
    // Neighbouring residuals repeat each other: about one in four is news.
    const double noise = 4.0 * (static_cast<double>(misfit) + 1.0);
    std::array<std::array<double, kUnknowns>, kUnknowns> h{};
    std::array<double, kUnknowns> x{};
    const std::array<float, 8> now = {warp.m[0], warp.m[1], warp.m[2], warp.m[3], warp.m[4], warp.m[5], gain, bias};
    std::size_t term = 0;
    for (std::size_t p = 0; p < kUnknowns; ++p) {
      for (std::size_t q = 0; q <= p; ++q, ++term) {
        h[p][q] = static_cast<double>(sum[term].total());
      }
      const double prior = noise / (kWidth[p] * kWidth[p]);
      h[p][p] += prior;
      x[p] = -static_cast<double>(sum[term].total()) -
             prior * (static_cast<double>(now[p]) - static_cast<double>(home[p]));
      ++term;
    }
    if (!solve<kUnknowns>(h, x)) return out;
    double move = 0;
    for (std::size_t p = 0; p < 6; ++p) {
      // A step of more than 5 % is a leap into what the slopes do not describe.
      const double held = std::clamp(x[p], -0.05, 0.05);
      warp.m[p] += static_cast<float>(held);
      move += std::fabs(held);
    }
    // Held to what is still a picture.
    gain = std::clamp(gain + static_cast<float>(x[6]), -8.0F, 8.0F);
    bias = std::clamp(bias + static_cast<float>(x[7]), -1024.0F, 1024.0F);
    // Never after the first step: `fit` is measured before a step, so the first one knows no gain.
    if (step > 0 && move < 8e-4) break;
  }
  return out;
}
template Registered register_luma<32>(const std::array<float, 1024>&, const std::array<float, 1024>&, const Frames&,
                                      const Warp&, bool, int);
template Registered register_luma<64>(const std::array<float, 4096>&, const std::array<float, 4096>&, const Frames&,
                                      const Warp&, bool, int);

}  // namespace millrace::alike
