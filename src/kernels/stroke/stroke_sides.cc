// The device code repeats this operation by operation: src/kernels/chart/body, outline.inc and lines.inc.
#include "src/kernels/stroke/stroke_sides.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace millrace::stroke {

void Sides::build(std::span<const StrokePoint> points, double radius) {
  points_.assign(points.begin(), points.end());
  radius_ = radius;
  upper_.build(points, radius);
  lower_.build_opposite(upper_);
}

void Sides::draw(Cells& cells) {
  find_slants(cells);
  upper_.draw(upper_gaps_, upper_lines_);
  lower_.draw(lower_gaps_, lower_lines_);
  for (std::size_t i = 0; i <= slants_.size(); ++i) {
    draw_line(i, cells);
    if (i < slants_.size()) cells.parts().add(slants_[i]);
  }
}

// Draws the region between two slants, as a tile if it is small.
void Sides::draw_line(std::size_t i, Cells& cells) const {
  const std::span<const Corner> upper = upper_lines_.line(i), lower = lower_lines_.line(i);
  std::int32_t left = upper[0].x, right = left, top = upper[0].y, bottom = top;
  for (const auto& corners : {upper, lower}) {
    for (const Corner& c : corners) {
      left = std::min(left, c.x);
      right = std::max(right, c.x);
      top = std::min(top, c.y);
      bottom = std::max(bottom, c.y);
    }
  }
  const int x = left >> 16, width = ((right + kOne - 1) >> 16) - x;
  const int y = std::max(0, top >> 16), rows = std::min(cells.height(), (bottom + kOne - 1) >> 16) - y;
  if (width <= 0 || rows <= 0 || x >= cells.width()) return;
  if (x >= 0 && x + width <= cells.width() && width <= kTileWidth && rows <= kTileHeight &&
      bottom - top < 2 * kTileHeight * kOne) {
    return cells.parts().add(PixelTile{x, y, width, rows}, upper, lower);
  }
  // An edge that goes down adds the area to its right, so the upper side is traversed backwards.
  for (std::size_t k = 0; k + 1 < upper.size(); ++k) {
    cells.edge(upper[k + 1].x, upper[k + 1].y, upper[k].x, upper[k].y);
  }
  for (std::size_t k = 0; k + 1 < lower.size(); ++k) {
    cells.edge(lower[k].x, lower[k].y, lower[k + 1].x, lower[k + 1].y);
  }
}

// Finds the rows that only one leg touches. For a leg that goes down, the left side belongs to the lower envelope and
// the right side to the upper one. No other edge lies in a row's pixels under two conditions. Both sides cross the
// whole row. No pixel reaches left of the begin of the left side's part, or right of the end of the right side's part.
// The reason: left of the begin of the right side's part, the upper envelope is not below the leg's own capsule. The
// capsule's disc there lies above the row, for the row is below the begin of the left side, which is below the disc's
// centre. By symmetry the same holds right of the end of the left side's part.
void Sides::find_slants(const Cells& cells) {
  slants_.clear();
  const std::size_t legs = points_.size() < 2 ? 1 : points_.size() - 1;
  upper_gaps_.assign(legs, {0, 0, 0, 0});
  lower_gaps_.assign(legs, {0, 0, 0, 0});
  // Thinner strokes may have levels of 0.
  // docs/design/strokes.md gives the reasons for the constants of this file.
  constexpr double kThinnest = 0.05;
  constexpr int kMinRows = 2;
  if (radius_ < kThinnest || radius_ >= kWidestSlant) return;
  for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
    const StrokePoint &a = points_[i], &b = points_[i + 1];
    const double dx = b.x - a.x, dy = b.y - a.y;
    if (dx <= 0 || dx > kMaxStep * std::fabs(dy)) continue;
    const double step = dx / dy, secant = std::sqrt(1 + step * step), across = 2 * radius_ * secant;
    if (std::fabs(step) + across > kWidestSlant) continue;
    // Indices replace branches, which would be mispredicted half of the time, as legs go up or down at random.
    const std::size_t down = dy > 0 ? 1 : 0;
    const std::array<const Envelope*, 2> sides = {&upper_, &lower_};
    const Envelope::Straight &left = sides[down]->straight(i), &right = sides[1 - down]->straight(i);
    // Range of the left side's x within a row; the upper left corner of the image is (0, 0).
    const std::array<double, 2> firsts = {ceil_of(left.begin + 0.5), left.begin + 0.5};
    const std::array<double, 2> lasts = {floor_of(right.end + 0.5), right.end + 0.5};
    const double first = firsts[left.goes_on_before ? 1 : 0], last = lasts[right.goes_on_behind ? 1 : 0];
    const double begin = std::max(std::max(0.0, first), right.begin + 0.5 - across) + kSlantError;
    const double end = std::min(left.end + 0.5, std::min<double>(last, cells.width()) - across) - kSlantError;
    if (begin >= end) continue;
    // A point of the left side, level with the leg's begin and `across` / 2 to the left of it.
    const double x = a.x + 0.5 - across / 2, y = a.y + 0.5;
    const double y_begin = y + (begin - x) / step, y_end = y + (end - x) / step;
    const double top = ceil_of(std::max(0.0, std::min(y_begin, y_end)));
    const double bottom = floor_of(std::min<double>(cells.height(), std::max(y_begin, y_end)));
    if (!(bottom - top >= kMinRows)) continue;
    const double x_top = x + (top - y) * step, x_bottom = x + (bottom - y) * step;
    slants_.push_back({static_cast<int>(top), static_cast<int>(bottom), x_top, step, across});
    const std::array<double, 2> x_ends = {x_bottom - 0.5, x_top - 0.5}, y_ends = {bottom - 0.5, top - 0.5};
    const Envelope::Gap gap{x_ends[down], y_ends[down], x_ends[1 - down], y_ends[1 - down]};
    const std::array<Envelope::Gap*, 2> gaps = {&upper_gaps_[i], &lower_gaps_[i]};
    *gaps[down] = gap;
    *gaps[1 - down] = {gap.x0 + across, gap.y0, gap.x1 + across, gap.y1};
  }
}

}  // namespace millrace::stroke
