#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_windows.h"

namespace millrace::detailed_check {
namespace {

// Sums the values that `fill` writes for each row, over windows of two by two cells.
template <int kSide, class Fill>
void sum_cells(int width, int height, const Fill& fill, Grid& out) {
  const int cells_x = width / kSide, cells_y = height / kSide;
  out.size(std::max(0, cells_x - 1), std::max(0, cells_y - 1));
  std::vector<float> line(static_cast<std::size_t>(width) + 16), columns(line.size());
  std::vector<float> cells(static_cast<std::size_t>(cells_x) * 2);
  for (int cy = 0; cy < cells_y; ++cy) {
    for (int k = 0; k < kSide; ++k) {
      fill(cy * kSide + k, line.data());
      for (std::size_t x = 0; x < columns.size(); ++x) columns[x] = k == 0 ? line[x] : columns[x] + line[x];
    }
    float* const now = cells.data() + static_cast<std::size_t>(cy % 2) * static_cast<std::size_t>(cells_x);
    const float* const before = cells.data() + static_cast<std::size_t>(1 - cy % 2) * static_cast<std::size_t>(cells_x);
    for (int cx = 0; cx < cells_x; ++cx) {
      const float* c = columns.data() + cx * kSide;
      now[cx] = c[0] + c[1];
      if constexpr (kSide == 4) now[cx] += c[2] + c[3];
    }
    if (cy == 0) continue;
    for (int cx = 0; cx + 1 < cells_x; ++cx) {
      const auto x = static_cast<std::size_t>(cx);
      out.at(cx, cy - 1) = (before[x] + before[x + 1]) + (now[x] + now[x + 1]);
    }
  }
}

template <class Fill>
void sum_windows(int width, int height, const Fill& fill, Grid& out) {
  sum_cells<kCell>(width, height, fill, out);
}

// Replaces sums by the root of the mean over the valid pixels.
void root_of_mean(const Grid& count, Grid& sums) {
  for (std::size_t i = 0; i < sums.values.size(); ++i)
    sums.values[i] = std::sqrt(std::max(0.0F, sums.values[i]) / std::max(1.0F, count.values[i]));
}

void mean(const Grid& count, Grid& sums) {
  for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i] /= std::max(1.0F, count.values[i]);
}

void masked_blur(const Plane& from, double sigma, const Plane& valid, Plane& scratch, Plane& to) {
  scratch.size(from.width(), from.height());
  for (int y = 0; y < from.height(); ++y) {
    const float *f = from.row(y), *in = valid.row(y);
    float* const out = scratch.row(y);
    for (int x = 0; x < from.width(); ++x) out[x] = in[x] * f[x];
  }
  blur(scratch, sigma, to);
}

// Writes the rms of `plane` in windows.
void rms_windows(const Plane& plane, const Plane& valid, const Grid& count, Grid& out) {
  sum_windows(
      plane.width(), plane.height(),
      [&](int y, float* line) {
        const float *p = plane.row(y), *in = valid.row(y);
        for (int x = 0; x < plane.width(); ++x) line[x] = in[x] * p[x] * p[x];
      },
      out);
  root_of_mean(count, out);
}

// Writes the rms, in windows, of the difference between `plane` and its blurred copy.
void activity(const Plane& plane, double sigma, const Plane& valid, const Grid& count, Plane& scratch, Grid& out) {
  blur(plane, sigma, scratch);
  sum_windows(
      plane.width(), plane.height(),
      [&](int y, float* line) {
        const float *p = plane.row(y), *s = scratch.row(y), *in = valid.row(y);
        for (int x = 0; x < plane.width(); ++x) line[x] = in[x] * (p[x] - s[x]) * (p[x] - s[x]);
      },
      out);
  root_of_mean(count, out);
}

// Measures chroma: a channel minus its luma. Half the size suffices: a comparison at 512 pixels sees no finer colour,
// most files hold no finer one, and the blurs are wide.
void measure_chroma(const Colour& toned, const Colour& target, const Plane& valid, WindowScratch& s, WindowMaps& maps) {
  for (std::size_t c = 0; c < 3; ++c) {
    halve(target[c], s.half_target[c]);
    halve(toned[c], s.half_toned[c]);
  }
  luma_of(s.half_target, s.luma_target);
  luma_of(s.half_toned, s.luma_toned);
  halve(valid, s.half_valid);
  const int w = s.half_valid.width(), h = s.half_valid.height();
  for (int y = 0; y < h; ++y) {
    float* const in = s.half_valid.row(y);
    for (int x = 0; x < w; ++x) in[x] = in[x] == 1.0F ? 1.0F : 0.0F;
  }
  const auto sum = [&](const auto& fill, Grid& sums) { sum_cells<kCell / 2>(w, h, fill, sums); };
  Grid count;
  sum([&](int y, float* line) { std::copy_n(s.half_valid.row(y), w, line); }, count);
  for (std::size_t c = 0; c < 3; ++c) {
    s.first.size(w, h);
    s.second.size(w, h);
    for (int y = 0; y < h; ++y) {
      const float *t = s.half_target[c].row(y), *x = s.half_toned[c].row(y);
      const float *lt = s.luma_target.row(y), *lx = s.luma_toned.row(y);
      float *own = s.first.row(y), *difference = s.second.row(y);
      for (int i = 0; i < w; ++i) {
        own[i] = t[i] - lt[i];
        difference[i] = own[i] - (x[i] - lx[i]);
      }
    }
    masked_blur(s.second, 0.75, s.half_valid, s.third, s.across);
    blur(s.first, 0.75, s.down);
    blur(s.first, 2.5, s.third);
    const auto add = [&](const auto& fill, Grid& sums) {
      sum(fill, s.grid);
      if (c == 0) sums = s.grid;
      for (std::size_t i = 0; c > 0 && i < sums.values.size(); ++i) sums.values[i] += s.grid.values[i];
    };
    add(
        [&](int y, float* line) {
          const float *d = s.across.row(y), *in = s.half_valid.row(y);
          for (int x = 0; x < w; ++x) line[x] = 0.5F * in[x] * d[x] * d[x];
        },
        maps.chroma);
    add(
        [&](int y, float* line) {
          const float *a = s.down.row(y), *b = s.third.row(y), *in = s.half_valid.row(y);
          for (int x = 0; x < w; ++x) line[x] = 0.5F * in[x] * (a[x] - b[x]) * (a[x] - b[x]);
        },
        maps.chroma_activity);
  }
  root_of_mean(count, maps.chroma);
  root_of_mean(count, maps.chroma_activity);
}

}  // namespace

void measure_windows(const Sharpness& fit, const Colour& toned, const Colour& target, const Plane& valid,
                     WindowScratch& s, WindowMaps& maps) {
  const int w = valid.width(), h = valid.height();
  sum_windows(
      w, h, [&](int y, float* line) { std::copy_n(valid.row(y), w, line); }, maps.count);
  const Grid& count = maps.count;
  rms_windows(fit.residual, valid, count, maps.plain);
  blur(fit.residual, 1, s.soft);
  rms_windows(s.soft, valid, count, maps.soft);
  activity(fit.fitted, 4, valid, count, s.first, maps.activity);
  activity(fit.other, 4, valid, count, s.first, s.grid);
  for (std::size_t i = 0; i < s.grid.values.size(); ++i)
    maps.activity.values[i] = std::min(maps.activity.values[i], s.grid.values[i]);

  // Products for the part that a shift would explain: slopes of both pictures together, with the softened residual in
  // s.soft.
  s.first.size(w, h);
  for (int y = 0; y < h; ++y) {
    const float *a = fit.fitted.row(y), *b = fit.other.row(y);
    float* const out = s.first.row(y);
    for (int x = 0; x < w; ++x) out[x] = 0.5F * (a[x] + b[x]);
  }
  blur(s.first, 1, s.second);
  const Plane& both = s.second;
  const auto slopes = [&](int y, int x) {
    const float *a = both.row(std::max(0, y - 1)), *m = both.row(y), *b = both.row(std::min(h - 1, y + 1));
    const int l = std::max(0, x - 1), r = std::min(w - 1, x + 1);
    const float gx = ((a[r] + 2 * m[r] + b[r]) - (a[l] + 2 * m[l] + b[l])) * 0.125F;
    const float gy = ((b[l] + 2 * b[x] + b[r]) - (a[l] + 2 * a[x] + a[r])) * 0.125F;
    return std::pair(gx, gy);
  };
  s.across.size(w, h);
  s.down.size(w, h);
  for (int y = 0; y < h; ++y) {
    float *gx = s.across.row(y), *gy = s.down.row(y);
    const float* in = valid.row(y);
    for (int x = 0; x < w; ++x) {
      const auto [dx, dy] = slopes(y, x);
      gx[x] = in[x] * dx;
      gy[x] = in[x] * dy;
    }
  }
  const auto products = [&](const Plane& a, const Plane& b, Grid& out) {
    sum_windows(
        w, h,
        [&](int y, float* line) {
          const float *p = a.row(y), *q = b.row(y), *in = valid.row(y);
          for (int x = 0; x < w; ++x) line[x] = in[x] * p[x] * q[x];
        },
        out);
    mean(count, out);
  };
  products(s.across, s.across, maps.xx);
  products(s.across, s.down, maps.xy);
  products(s.down, s.down, maps.yy);
  products(s.across, s.soft, maps.xr);
  products(s.down, s.soft, maps.yr);

  measure_chroma(toned, target, valid, s, maps);
}

}  // namespace millrace::detailed_check
