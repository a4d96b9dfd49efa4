#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/kernels/detailed_check/detailed_check_classify.h"
#include "src/kernels/detailed_check/detailed_check_windows.h"

namespace millrace::detailed_check {
namespace {

// Joins the values of (2 reach + 1)^2 windows, across and then down; values outside count as 0.
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

// Activity above which a window shows detail, and the number of windows that a statistic needs.
// docs/design/detailed-check.md gives the reasons for the constants of this file.
constexpr float kDetail = 8;
constexpr std::size_t kEnough = 30;

// Noise of this pair: in flat areas, beside detail as a share of it, and in colour.
struct Noise {
  static constexpr float kMinShare = 0.06F;
  float flat = 1.5F, share = kMinShare, chroma = 2.5F;
  bool resolvable_beside_detail = false;
};
Noise noise_of(const WindowMaps& maps, const Grid& around, const std::vector<std::uint8_t>& ok) {
  constexpr float kFlat = 6;
  std::vector<float> flat, flat_chroma, beside;
  for (std::size_t i = 0; i < ok.size(); ++i) {
    if (ok[i] == 0) continue;
    if (around.values[i] < kFlat) {
      flat.push_back(maps.soft.values[i]);
      flat_chroma.push_back(maps.chroma.values[i]);
    }
    if (maps.activity.values[i] > kDetail) beside.push_back(maps.soft.values[i] / maps.activity.values[i]);
  }
  Noise out;
  out.resolvable_beside_detail = beside.size() > kEnough;
  out.flat = std::clamp(flat.size() > kEnough ? 3 * quantile(flat, 0.5) : 0.0F, 1.5F, 4.0F);
  out.share = std::clamp(out.resolvable_beside_detail ? 5 * quantile(beside, 0.25) : 0.1F, Noise::kMinShare, 0.3F);
  out.chroma = std::clamp(flat_chroma.size() > kEnough ? 3 * quantile(flat_chroma, 0.5) : 2.0F, 2.5F, 6.0F);
  return out;
}

// Removes the neighbourhood of the peak from the windows that count.
void leave_out_peak(const Grid& values, std::vector<std::uint8_t>& counts) {
  constexpr int kNeighborhood = 4;
  float peak = 0;
  int peak_x = 0, peak_y = 0;
  for (int y = 0; y < values.rows; ++y) {
    for (int x = 0; x < values.columns; ++x) {
      if (counts[static_cast<std::size_t>(y * values.columns + x)] == 0 || values.at(x, y) <= peak) continue;
      peak = values.at(x, y);
      peak_x = x;
      peak_y = y;
    }
  }
  for (int y = std::max(0, peak_y - kNeighborhood); y <= std::min(values.rows - 1, peak_y + kNeighborhood); ++y) {
    for (int x = std::max(0, peak_x - kNeighborhood); x <= std::min(values.columns - 1, peak_x + kNeighborhood); ++x)
      counts[static_cast<std::size_t>(y * values.columns + x)] = 0;
  }
}

// Keeps windows that stand out from a picture's others: a digit among digits. Copying leaves as much beside one detail
// as beside any other, so a pair's own noise does not excuse these windows. `values` are the residuals without that
// excuse. They become 0 unless they exceed twice the quantile `most` of the others. The surroundings of the `peaks`
// largest values are not counted among the others, so that several changes do not hide each other.
void keep_outliers(const Grid& activity, const std::vector<std::uint8_t>& ok, int peaks, double most, Grid& values) {
  constexpr float kTimes = 2;
  std::vector<std::uint8_t> counts = ok;
  for (int peak = 0; peak < peaks; ++peak) leave_out_peak(values, counts);
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

// Residual in luma and chroma, relative to the least noise that any pair has.
struct Unexcused {
  Grid luma, chroma;
};

void find_outliers(const WindowMaps& maps, const std::vector<std::uint8_t>& ok, const Noise& noise, Unexcused left,
                   ResidualFigures& out) {
  constexpr float kUnresolved = 1.4F, kMuch = 0.25F;
  std::vector<float> beside;
  for (std::size_t i = 0; i < ok.size(); ++i) {
    if (ok[i] != 0 && maps.activity.values[i] > kDetail) beside.push_back(left.luma.values[i]);
  }
  if (noise.share >= kMuch && beside.size() > out.windows / 4)
    out.unresolved = quantile(std::move(beside), 0.9) / kUnresolved;
  // A window that stands out is more telling where copying left much, a filter's effect included.
  const bool much = noise.share > 0.15F, little = !much && noise.resolvable_beside_detail;
  const float most_lone = much ? 2.2F : kThresholds.soft;
  const double others = much ? 0.99 : 1;
  const int peaks = little ? 1 : 3;
  keep_outliers(maps.activity, ok, peaks, others, left.luma);
  keep_outliers(maps.activity, ok, peaks, others, left.chroma);
  float& lone = little ? out.lone_in_little : out.lone;
  for (std::size_t i = 0; i < ok.size(); ++i) {
    const float is_outlier = std::max(left.luma.values[i] / most_lone, left.chroma.values[i] / kThresholds.chroma);
    lone = std::max(lone, is_outlier);
    out.excess.values[i] = std::max(out.excess.values[i], is_outlier);
  }
}

// Measures local shifts over windows of 24 pixels (Lucas and Kanade 1981): the part of the residual that they explain.
void find_shifts(const WindowMaps& maps, const std::vector<std::uint8_t>& ok, const Noise& noise,
                 ResidualFigures& out) {
  Grid valid;
  valid.size(maps.count.columns, maps.count.rows);
  for (std::size_t i = 0; i < ok.size(); ++i) valid.values[i] = ok[i];
  valid = averaged(valid, 2);
  const Grid xx = averaged(maps.xx, 2), xy = averaged(maps.xy, 2), yy = averaged(maps.yy, 2), xr = averaged(maps.xr, 2),
             yr = averaged(maps.yr, 2), near = dilated(averaged(maps.activity, 1), 1);
  std::vector<float> drifts;
  for (std::size_t i = 0; i < ok.size(); ++i) {
    if (ok[i] == 0 || valid.values[i] <= 0.6F) continue;
    const float n = 1 / valid.values[i];
    const float a = xx.values[i] * n + 0.5F, b = xy.values[i] * n, c = yy.values[i] * n + 0.5F;
    const float rx = xr.values[i] * n, ry = yr.values[i] * n;
    const float share_of = 1 / (a * c - b * b);
    const float explained = ((c * rx - b * ry) * rx + (a * ry - b * rx) * ry) * share_of;
    // Length of that shift, where slopes in both directions determine it well.
    const float trace = a + c, root = std::sqrt(std::max(0.0F, (a - c) * (a - c) + 4 * b * b));
    if (0.5F * (trace - root) > 6) {
      const float ux = (c * rx - b * ry) * share_of, uy = (a * ry - b * rx) * share_of;
      drifts.push_back(std::sqrt(ux * ux + uy * uy));
    }
    const float detail = 0.5F * noise.share * compress_activity(near.values[i]);
    const float z = std::sqrt(std::max(0.0F, explained)) / std::sqrt(0.36F * noise.flat * noise.flat + detail * detail);
    out.shift = std::max(out.shift, z);
    out.excess.values[i] = std::max(out.excess.values[i], z / kThresholds.shift);
  }
  out.drift = drifts.size() > kEnough ? quantile(drifts, 0.75) : 0;
}

}  // namespace

std::optional<ResidualFigures> compute_figures(WindowMaps& maps) {
  constexpr float kValid = 0.6F * 64;
  const std::size_t windows = maps.count.values.size();
  std::vector<std::uint8_t> ok(windows);
  ResidualFigures out;
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
  const Noise noise = noise_of(maps, around, ok);
  for (float& a : around.values) a = compress_activity(a);
  const Grid around_chroma = dilated(maps.chroma_activity, 2);

  out.excess.size(maps.count.columns, maps.count.rows);
  Grid chroma;
  Unexcused left;
  for (Grid* grid : {&chroma, &left.luma, &left.chroma}) grid->size(maps.count.columns, maps.count.rows);
  std::size_t many = 0;
  for (std::size_t i = 0; i < windows; ++i) {
    if (ok[i] == 0) continue;
    const float detail = noise.share * around.values[i], least = Noise::kMinShare * around.values[i];
    const float soft = maps.soft.values[i] / std::sqrt(noise.flat * noise.flat + detail * detail);
    const float plain = maps.plain.values[i] / std::sqrt(4 * noise.flat * noise.flat + detail * detail);
    left.luma.values[i] = maps.soft.values[i] / std::sqrt(noise.flat * noise.flat + least * least);
    const float a = 0.35F * around_chroma.values[i], b = 0.1F * around.values[i];
    const float c = maps.chroma.values[i] / std::sqrt(noise.chroma * noise.chroma + a * a + b * b);
    chroma.values[i] = c * c;
    const float least_a = 0.23F * around_chroma.values[i], least_b = 0.08F * around.values[i];
    left.chroma.values[i] = maps.chroma.values[i] / std::sqrt(15.0F + least_a * least_a + least_b * least_b);
    out.soft = std::max(out.soft, soft);
    out.plain = std::max(out.plain, plain);
    if (soft > 3) ++many;
    out.excess.values[i] = std::max(soft / kThresholds.soft, plain / kThresholds.plain);
  }
  out.spread = static_cast<float>(many) / static_cast<float>(out.windows);
  find_outliers(maps, ok, noise, std::move(left), out);
  chroma = averaged(chroma, 1);
  for (std::size_t i = 0; i < windows; ++i) {
    const float c = std::sqrt(chroma.values[i]);
    out.chroma = std::max(out.chroma, c);
    if (ok[i] != 0) out.excess.values[i] = std::max(out.excess.values[i], c / kThresholds.chroma);
  }
  find_shifts(maps, ok, noise, out);
  return out;
}

std::array<int, 4> find_worst_place(const Grid& excess) {
  const auto at =
      static_cast<int>(std::max_element(excess.values.begin(), excess.values.end()) - excess.values.begin());
  if (excess.columns == 0) return {0, 0, 0, 0};
  // Windows that are connected with the worst one, a gap of one window allowed.
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

}  // namespace millrace::detailed_check
