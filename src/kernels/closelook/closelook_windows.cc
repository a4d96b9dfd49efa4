#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/closelook/closelook_windows.h"

namespace millrace::closelook {
namespace {

constexpr int kCell = 4;

// Sums over windows of two by two cells of what `fill` writes of each row.
template <int kCell, class Fill>
void sum_cells(int width, int height, const Fill& fill, Grid& out) {
  const int cells_x = width / kCell, cells_y = height / kCell;
  out.size(std::max(0, cells_x - 1), std::max(0, cells_y - 1));
  std::vector<float> line(static_cast<std::size_t>(width) + 16), columns(line.size());
  std::vector<float> cells(static_cast<std::size_t>(cells_x) * 2);
  for (int cy = 0; cy < cells_y; ++cy) {
    for (int k = 0; k < kCell; ++k) {
      fill(cy * kCell + k, line.data());
      for (std::size_t x = 0; x < columns.size(); ++x) columns[x] = k == 0 ? line[x] : columns[x] + line[x];
    }
    float* const now = cells.data() + static_cast<std::size_t>(cy % 2) * static_cast<std::size_t>(cells_x);
    const float* const before = cells.data() + static_cast<std::size_t>(1 - cy % 2) * static_cast<std::size_t>(cells_x);
    for (int cx = 0; cx < cells_x; ++cx) {
      const float* c = columns.data() + cx * kCell;
      now[cx] = c[0] + c[1];
      if constexpr (kCell == 4) now[cx] += c[2] + c[3];
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

// The root of the mean over what is valid.
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

// The rms of `plane` in windows.
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

// How much `plane` varies around its blurred self.
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

// Chroma: what of a channel is not luma. At half the size: a look at 512 pixels sees no finer colour, most files hold
// no finer one, and the blurs are wide.
void measure_chroma(const Colour& toned, const Colour& target, const Plane& valid, WindowScratch& s, Maps& maps) {
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
                     WindowScratch& s, Maps& maps) {
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

  // What a shift would explain: slopes of both together, against the softened residual, which stands in s.soft.
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

namespace {

// Over (2 reach + 1)^2 windows, across and then down; what lies outside is 0.
template <class Join>
Grid gathered(const Grid& from, int reach, const Join& join) {
  Grid across, out;
  across.size(from.columns, from.rows);
  out.size(from.columns, from.rows);
  for (int y = 0; y < from.rows; ++y) {
    for (int x = 0; x < from.columns; ++x) {
      float all = 0;
      for (int i = std::max(0, x - reach); i <= std::min(from.columns - 1, x + reach); ++i)
        all = join(all, from.at(i, y));
      across.at(x, y) = all;
    }
  }
  for (int y = 0; y < from.rows; ++y) {
    for (int j = std::max(0, y - reach); j <= std::min(from.rows - 1, y + reach); ++j) {
      for (int x = 0; x < from.columns; ++x) out.at(x, y) = join(out.at(x, y), across.at(x, j));
    }
  }
  return out;
}

Grid dilated(const Grid& from, int reach) {
  return gathered(from, reach, [](float a, float b) { return std::max(a, b); });
}

Grid averaged(const Grid& from, int reach) {
  Grid out = gathered(from, reach, [](float a, float b) { return a + b; });
  const float share = 1.0F / static_cast<float>((2 * reach + 1) * (2 * reach + 1));
  for (float& v : out.values) v *= share;
  return out;
}

float quantile(std::vector<float> values, double part) {
  const double place = part * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(low), values.end());
  const float first = values[low];
  if (low + 1 == values.size()) return first;
  const float second = *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(low) + 1, values.end());
  return first + static_cast<float>(place - static_cast<double>(low)) * (second - first);
}

// Windows that stand out from a picture's others: a digit among digits. What copying leaves beside detail, it leaves
// beside all of it; so these are not excused by a pair's own noise there. `values` are those that would not be excused,
// and become 0 where they do not stand out.
void keep_what_stands_out(const Grid& activity, const std::vector<std::uint8_t>& ok, int peaks, double most,
                          Grid& values) {
  constexpr int kAround = 4;
  constexpr float kDetail = 8, kTimes = 2;
  constexpr std::size_t kEnough = 30;
  // Several that were changed do not hide each other.
  std::vector<std::uint8_t> counts = ok;
  for (int peak = 0; peak < peaks; ++peak) {
    float most = 0;
    int top_x = 0, top_y = 0;
    for (int y = 0; y < values.rows; ++y) {
      for (int x = 0; x < values.columns; ++x) {
        if (counts[static_cast<std::size_t>(y * values.columns + x)] == 0 || values.at(x, y) <= most) continue;
        most = values.at(x, y);
        top_x = x;
        top_y = y;
      }
    }
    for (int y = std::max(0, top_y - kAround); y <= std::min(values.rows - 1, top_y + kAround); ++y) {
      for (int x = std::max(0, top_x - kAround); x <= std::min(values.columns - 1, top_x + kAround); ++x)
        counts[static_cast<std::size_t>(y * values.columns + x)] = 0;
    }
  }
  std::vector<float> detailed, all;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    all.push_back(values.values[i]);
    if (activity.values[i] > kDetail) detailed.push_back(values.values[i]);
  }
  const std::vector<float>& others = detailed.size() > kEnough ? detailed : all;
  const float usual = others.size() > kEnough ? kTimes * quantile(others, most) : std::numeric_limits<float>::max();
  for (float& v : values.values) v = v > usual ? v : 0;
}

}  // namespace

std::optional<Figures> figures_of(Maps& maps) {
  constexpr float kValid = 0.6F * 64;
  constexpr std::size_t kEnough = 30;
  const std::size_t windows = maps.count.values.size();
  std::vector<std::uint8_t> ok(windows);
  Figures out;
  for (std::size_t i = 0; i < windows; ++i) {
    ok[i] = maps.count.values[i] >= kValid ? 1 : 0;
    out.windows += ok[i];
    if (ok[i] != 0) continue;
    for (Grid* grid : {&maps.plain, &maps.soft, &maps.activity, &maps.chroma, &maps.chroma_activity, &maps.xx, &maps.xy,
                       &maps.yy, &maps.xr, &maps.yr})
      grid->values[i] = 0;
  }
  if (out.windows < 20) return std::nullopt;
  Grid around = dilated(maps.activity, 2);
  // This pair's noise: where nothing is, and beside detail.
  std::vector<float> flat, flat_chroma, beside;
  for (std::size_t i = 0; i < windows; ++i) {
    if (ok[i] == 0) continue;
    if (around.values[i] < 6) {
      flat.push_back(maps.soft.values[i]);
      flat_chroma.push_back(maps.chroma.values[i]);
    }
    if (maps.activity.values[i] > 8) beside.push_back(maps.soft.values[i] / maps.activity.values[i]);
  }
  const float noise = std::clamp(flat.size() > kEnough ? 3 * quantile(flat, 0.5) : 0.0F, 1.5F, 4.0F);
  constexpr float kLeastShare = 0.06F;
  const float share = std::clamp(beside.size() > kEnough ? 5 * quantile(beside, 0.25) : 0.1F, kLeastShare, 0.3F);
  const float noise_chroma =
      std::clamp(flat_chroma.size() > kEnough ? 3 * quantile(flat_chroma, 0.5) : 2.0F, 2.5F, 6.0F);
  for (float& a : around.values) a = saturated(a);
  const Grid around_chroma = dilated(maps.chroma_activity, 2);

  out.excess.size(maps.count.columns, maps.count.rows);
  Grid chroma, lone, lone_chroma;
  for (Grid* grid : {&chroma, &lone, &lone_chroma}) grid->size(maps.count.columns, maps.count.rows);
  std::size_t many = 0;
  for (std::size_t i = 0; i < windows; ++i) {
    if (ok[i] == 0) continue;
    const float detail = share * around.values[i];
    const float soft = maps.soft.values[i] / std::sqrt(noise * noise + detail * detail);
    const float plain = maps.plain.values[i] / std::sqrt(4 * noise * noise + detail * detail);
    const float a = 0.35F * around_chroma.values[i], b = 0.1F * around.values[i];
    const float c = maps.chroma.values[i] / std::sqrt(noise_chroma * noise_chroma + a * a + b * b);
    chroma.values[i] = c * c;
    const float least = kLeastShare * around.values[i];
    lone.values[i] = maps.soft.values[i] / std::sqrt(noise * noise + least * least);
    const float least_a = 0.23F * around_chroma.values[i], least_b = 0.08F * around.values[i];
    lone_chroma.values[i] = maps.chroma.values[i] / std::sqrt(15.0F + least_a * least_a + least_b * least_b);
    out.soft = std::max(out.soft, soft);
    out.plain = std::max(out.plain, plain);
    if (soft > 3) ++many;
    out.excess.values[i] = std::max(soft / Figures::kSoft, plain / Figures::kPlain);
  }
  out.spread = static_cast<float>(many) / static_cast<float>(out.windows);
  constexpr float kUnresolved = 1.4F, kMuch = 0.25F;
  std::vector<float> left;
  for (std::size_t i = 0; i < windows; ++i) {
    if (ok[i] != 0 && maps.activity.values[i] > 8) left.push_back(lone.values[i]);
  }
  if (share >= kMuch && left.size() > out.windows / 4) out.unresolved = quantile(std::move(left), 0.9) / kUnresolved;
  // Where copying left much, a filter's work among it, it is the more telling.
  const bool much = share > 0.15F, little = !much && beside.size() > kEnough;
  const float most_lone = much ? 2.2F : Figures::kSoft;
  const double others = much ? 0.99 : 1;
  const int peaks = little ? 1 : 3;
  keep_what_stands_out(maps.activity, ok, peaks, others, lone);
  keep_what_stands_out(maps.activity, ok, peaks, others, lone_chroma);
  for (std::size_t i = 0; i < windows; ++i) {
    const float stands_out = std::max(lone.values[i] / most_lone, lone_chroma.values[i] / Figures::kChroma);
    float& lone_one = little ? out.lone_in_little : out.lone;
    lone_one = std::max(lone_one, stands_out);
    out.excess.values[i] = std::max(out.excess.values[i], stands_out);
  }
  chroma = averaged(chroma, 1);
  for (std::size_t i = 0; i < windows; ++i) {
    const float c = std::sqrt(chroma.values[i]);
    out.chroma = std::max(out.chroma, c);
    if (ok[i] != 0) out.excess.values[i] = std::max(out.excess.values[i], c / Figures::kChroma);
  }

  // Local shifts, over windows of 24 pixels (Lucas and Kanade 1981): the part of the residual that one explains.
  Grid valid;
  valid.size(maps.count.columns, maps.count.rows);
  for (std::size_t i = 0; i < windows; ++i) valid.values[i] = ok[i];
  valid = averaged(valid, 2);
  const Grid xx = averaged(maps.xx, 2), xy = averaged(maps.xy, 2), yy = averaged(maps.yy, 2), xr = averaged(maps.xr, 2),
             yr = averaged(maps.yr, 2), near = dilated(averaged(maps.activity, 1), 1);
  std::vector<float> drifts;
  for (std::size_t i = 0; i < windows; ++i) {
    if (ok[i] == 0 || valid.values[i] <= 0.6F) continue;
    const float n = 1 / valid.values[i];
    const float a = xx.values[i] * n + 0.5F, b = xy.values[i] * n, c = yy.values[i] * n + 0.5F;
    const float rx = xr.values[i] * n, ry = yr.values[i] * n;
    const float share_of = 1 / (a * c - b * b);
    const float explained = ((c * rx - b * ry) * rx + (a * ry - b * rx) * ry) * share_of;
    // How far that shift is, where slopes both ways say it well.
    const float trace = a + c, root = std::sqrt(std::max(0.0F, (a - c) * (a - c) + 4 * b * b));
    if (0.5F * (trace - root) > 6) {
      const float ux = (c * rx - b * ry) * share_of, uy = (a * ry - b * rx) * share_of;
      drifts.push_back(std::sqrt(ux * ux + uy * uy));
    }
    const float detail = 0.5F * share * saturated(near.values[i]);
    const float z = std::sqrt(std::max(0.0F, explained)) / std::sqrt(0.36F * noise * noise + detail * detail);
    out.shift = std::max(out.shift, z);
    out.excess.values[i] = std::max(out.excess.values[i], z / Figures::kShift);
  }
  out.drift = drifts.size() > kEnough ? quantile(drifts, 0.75) : 0;
  return out;
}

std::array<int, 4> place_of(const Grid& excess) {
  const auto at =
      static_cast<int>(std::max_element(excess.values.begin(), excess.values.end()) - excess.values.begin());
  if (excess.columns == 0) return {0, 0, 0, 0};
  // What is connected with the worst window, a gap of one window allowed.
  constexpr float kPart = 0.6F;
  std::vector<std::uint8_t> seen(excess.values.size(), 0);
  std::vector<int> open = {at};
  seen[static_cast<std::size_t>(at)] = 1;
  std::array<int, 4> box = {excess.columns, excess.rows, 0, 0};
  while (!open.empty()) {
    const int i = open.back(), x = i % excess.columns, y = i / excess.columns;
    open.pop_back();
    box = {std::min(box[0], x), std::min(box[1], y), std::max(box[2], x), std::max(box[3], y)};
    for (int v = std::max(0, y - 2); v <= std::min(excess.rows - 1, y + 2); ++v) {
      for (int u = std::max(0, x - 2); u <= std::min(excess.columns - 1, x + 2); ++u) {
        const int other = v * excess.columns + u;
        if (seen[static_cast<std::size_t>(other)] != 0 || excess.values[static_cast<std::size_t>(other)] < kPart)
          continue;
        seen[static_cast<std::size_t>(other)] = 1;
        open.push_back(other);
      }
    }
  }
  return {box[0] * kCell, box[1] * kCell, box[2] * kCell + 2 * kCell, box[3] * kCell + 2 * kCell};
}

}  // namespace millrace::closelook
