#include "src/kernels/masks/postprocess.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace millrace::masks {
namespace {

using Run = PostprocessWorkspace::Run;

std::uint32_t root_of(std::vector<Run>& runs, std::uint32_t k) {
  while (runs[k].parent != k) {
    runs[k].parent = runs[runs[k].parent].parent;
    k = runs[k].parent;
  }
  return k;
}

// Finds runs of `value` in rows, and joins them where they touch: over corners too, where `reach` is 1.
void join_runs(const std::uint8_t* plane, std::int32_t width, std::int32_t height, std::uint8_t value,
               std::int32_t reach, PostprocessWorkspace& workspace) {
  auto& runs = workspace.runs;
  runs.clear();
  std::size_t above = 0, above_end = 0;
  for (std::int32_t y = 0; y < height; ++y) {
    const std::uint8_t* row = plane + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    const std::size_t begin_of_row = runs.size();
    for (std::int32_t x = 0; x < width;) {
      if (row[x] != value) {
        const void* next = std::memchr(row + x, value, static_cast<std::size_t>(width - x));
        if (next == nullptr) break;
        x = static_cast<std::int32_t>(static_cast<const std::uint8_t*>(next) - row);
      }
      const std::int32_t begin = x;
      while (x < width && row[x] == value) ++x;
      const auto k = static_cast<std::uint32_t>(runs.size());
      runs.push_back({y, begin, x, k});
      while (above < above_end && runs[above].end + reach <= begin) ++above;
      for (std::size_t a = above; a < above_end && runs[a].begin < x + reach; ++a) {
        const std::uint32_t one = root_of(runs, static_cast<std::uint32_t>(a)), other = root_of(runs, k);
        runs[std::max(one, other)].parent = std::min(one, other);
      }
    }
    above = begin_of_row;
    above_end = runs.size();
  }
  workspace.areas.assign(runs.size(), 0);
  workspace.touches.assign(runs.size(), 0);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::uint32_t root = root_of(runs, static_cast<std::uint32_t>(k));
    workspace.areas[root] += runs[k].end - runs[k].begin;
    if (runs[k].y == 0 || runs[k].y == height - 1 || runs[k].begin == 0 || runs[k].end == width)
      workspace.touches[root] = 1;
  }
}

void fill_run(std::uint8_t* plane, std::int32_t width, const Run& run, std::uint8_t value) {
  std::fill_n(
      plane + static_cast<std::size_t>(run.y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(run.begin),
      run.end - run.begin, value);
}

// Returns half the length of a disc's row, `dy` from its middle; -1 outside the disc.
int half_row(int diameter, int dy) {
  const double radius = diameter / 2.0;
  const double inside = radius * radius - static_cast<double>(dy) * dy;
  return inside < 0 ? -1 : static_cast<int>(std::floor(std::sqrt(inside)));
}

}  // namespace

void remove_specks(std::uint8_t* inside, std::int32_t width, std::int32_t height, std::int64_t area,
                   PostprocessWorkspace& workspace) {
  join_runs(inside, width, height, 1, 1, workspace);
  for (std::size_t k = 0; k < workspace.runs.size(); ++k)
    if (workspace.areas[root_of(workspace.runs, static_cast<std::uint32_t>(k))] < area)
      fill_run(inside, width, workspace.runs[k], 0);
}

void fill_holes(std::uint8_t* inside, std::int32_t width, std::int32_t height, std::int64_t area,
                PostprocessWorkspace& workspace) {
  join_runs(inside, width, height, 0, 0, workspace);
  for (std::size_t k = 0; k < workspace.runs.size(); ++k) {
    const std::uint32_t root = root_of(workspace.runs, static_cast<std::uint32_t>(k));
    if (workspace.touches[root] == 0 && (area < 0 || workspace.areas[root] < area))
      fill_run(inside, width, workspace.runs[k], 1);
  }
}

void dilate(const std::uint8_t* from, std::uint8_t* to, std::int32_t width, std::int32_t height, int diameter,
            PostprocessWorkspace& workspace) {
  const int radius = diameter / 2;
  const auto padded = static_cast<std::size_t>(width + 2 * radius);
  const auto w = static_cast<std::size_t>(width);
  workspace.second.assign(padded, 0);
  std::fill_n(to, w * static_cast<std::size_t>(height), std::uint8_t{0});
  std::uint8_t* const row = workspace.second.data();
  for (std::int32_t y = 0; y < height; ++y) {
    std::memcpy(row + radius, from + static_cast<std::size_t>(y) * w, w);
    // Adds this row to the rows around it.
    for (int dy = -radius; dy <= radius; ++dy) {
      const std::int32_t target = y + dy;
      const int half = half_row(diameter, dy);
      if (target < 0 || target >= height || half < 0) continue;
      std::uint8_t* const out = to + static_cast<std::size_t>(target) * w;
      for (int dx = -half; dx <= half; ++dx) {
        const std::uint8_t* const in = row + radius + dx;
        for (std::size_t x = 0; x < w; ++x) out[x] = static_cast<std::uint8_t>(out[x] | in[x]);
      }
    }
  }
}

void soften(std::uint16_t* mask, std::int32_t width, std::int32_t height, double deviation,
            PostprocessWorkspace& workspace) {
  // Lengths of boxes whose three variances, (n * n - 1) / 12 each, add up to the Gaussian's.
  const int radius = std::max(static_cast<int>(std::lround((std::sqrt(4 * deviation * deviation + 1) - 1) / 2)), 1);
  const std::uint32_t length = static_cast<std::uint32_t>(2 * radius + 1);
  const auto w = static_cast<std::size_t>(width), h = static_cast<std::size_t>(height);
  const auto at = [](std::int64_t k, std::size_t n) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(k, 0, static_cast<std::int64_t>(n) - 1));
  };
  auto& row = workspace.row;
  std::vector<std::uint32_t> sums(w);
  for (int pass = 0; pass < 3; ++pass) {
    for (std::size_t y = 0; y < h; ++y) {
      std::uint16_t* const line = mask + y * w;
      row.assign(line, line + w);
      std::uint32_t sum = 0;
      for (int k = -radius; k <= radius; ++k) sum += row[at(k, w)];
      for (std::size_t x = 0; x < w; ++x) {
        line[x] = static_cast<std::uint16_t>((sum + length / 2) / length);
        sum += row[at(static_cast<std::int64_t>(x) + radius + 1, w)];
        sum -= row[at(static_cast<std::int64_t>(x) - radius, w)];
      }
    }
    // Columns are filtered a row at a time; the rows above are needed as they were.
    workspace.columns.assign(mask, mask + w * h);
    const std::uint16_t* const old = workspace.columns.data();
    std::fill(sums.begin(), sums.end(), 0U);
    for (int k = -radius; k <= radius; ++k)
      for (std::size_t x = 0; x < w; ++x) sums[x] += old[at(k, h) * w + x];
    for (std::size_t y = 0; y < h; ++y) {
      const std::uint16_t* const next = old + at(static_cast<std::int64_t>(y) + radius + 1, h) * w;
      const std::uint16_t* const gone = old + at(static_cast<std::int64_t>(y) - radius, h) * w;
      for (std::size_t x = 0; x < w; ++x) {
        mask[y * w + x] = static_cast<std::uint16_t>((sums[x] + length / 2) / length);
        sums[x] += next[x];
        sums[x] -= gone[x];
      }
    }
  }
}

void postprocess(std::uint16_t* mask, std::int32_t width, std::int32_t height, std::uint16_t threshold,
                 const Postprocess& how, const GuideImage& picture, PostprocessWorkspace& workspace) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  auto& inside = workspace.inside;
  inside.resize(pixels);
  for (std::size_t i = 0; i < pixels; ++i) inside[i] = mask[i] >= threshold ? 1 : 0;
  if (how.area > 0) remove_specks(inside.data(), width, height, how.area, workspace);
  if (how.holes != 0) fill_holes(inside.data(), width, height, how.holes, workspace);
  auto& other = workspace.first;
  other.resize(pixels);
  const auto turn_round = [&] {
    for (std::uint8_t& one : inside) one ^= 1;
  };
  // Erosion is dilation of the background; pixels outside the picture are neither.
  const auto grow = [&](int diameter) {
    dilate(inside.data(), other.data(), width, height, diameter, workspace);
    inside.swap(other);
  };
  const auto shrink_by = [&](int diameter) {
    turn_round();
    grow(diameter);
    turn_round();
  };
  if (how.open > 1) {
    shrink_by(how.open);
    grow(how.open);
  }
  if (how.close > 1) {
    grow(how.close);
    shrink_by(how.close);
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    const bool was = mask[i] >= threshold, is = inside[i] != 0;
    if (was != is || how.hard) mask[i] = is ? kOne : 0;
  }
  constexpr double kEdge = 0.05;
  if (how.guide > 0) guide(mask, width, height, picture, how.guide, kEdge, workspace.guiding);
  if (how.feather > 0) soften(mask, width, height, how.feather, workspace);
}

}  // namespace millrace::masks
