#include "src/kernels/stroke/stroke.h"

#include <algorithm>
#include <memory>

#include "src/base/error.h"
#include "src/kernels/stroke/stroke_cells.h"
#include "src/kernels/stroke/stroke_sides.h"

namespace millrace::stroke {
namespace {

// A line that does not go left, and its bounds in the image.
struct Chain {
  std::vector<StrokePoint> points;
  double left = 0, right = 0, top = 0, bottom = 0;
};

// Marks of a pixel while strokes are drawn over each other.
constexpr std::uint8_t kEdge = 1, kContested = 2;

}  // namespace

struct Rasterizer::State {
  State(int w, int h, double line_width) : width(w), height(h), radius(line_width / 2), cells(w, h) {}

  void add(std::span<const StrokePoint> points);
  void add_chain(std::span<const StrokePoint> points, bool leftwards);
  bool apart() const;
  void lay_over(rle::Image& out);
  double measured(int x, int y) const;

  const int width, height;
  const double radius;
  Cells cells;
  std::vector<Chain> chains;
  std::size_t used = 0;  // number of used `chains`; the memory of all is kept
  Sides sides;
  // State for strokes that may overlap.
  std::vector<Sides> all_sides;
  std::vector<std::uint8_t> levels, marks;
};

Rasterizer::Rasterizer(int width, int height, double line_width)
    : state_(std::make_unique<State>(width, height, line_width)) {}
Rasterizer::~Rasterizer() = default;

Workspace Rasterizer::workspace(int width, int height) { return {.host = {Cells::memory_needed(width, height)}}; }

void Rasterizer::State::add_chain(std::span<const StrokePoint> points, bool leftwards) {
  if (used == chains.size()) chains.emplace_back();
  Chain& chain = chains[used++];
  chain.points.assign(points.begin(), points.end());
  if (leftwards) std::reverse(chain.points.begin(), chain.points.end());
  chain.left = chain.points.front().x - radius;
  chain.right = chain.points.back().x + radius;
  const auto [high, low] = std::minmax_element(points.begin(), points.end(),
                                               [](const StrokePoint& a, const StrokePoint& b) { return a.y < b.y; });
  chain.top = high->y - radius;
  chain.bottom = low->y + radius;
}

void Rasterizer::State::add(std::span<const StrokePoint> points) {
  std::size_t begin = 0;
  int direction = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double dx = points[i].x - points[i - 1].x;
    const int now = dx > 0 ? 1 : (dx < 0 ? -1 : direction);
    if (direction != 0 && now != direction) {
      add_chain(points.subspan(begin, i - begin), direction < 0);
      begin = i - 1;
    }
    direction = now;
  }
  if (!points.empty()) add_chain(points.subspan(begin), direction < 0);
}

// True if no two strokes meet, even in one pixel.
bool Rasterizer::State::apart() const {
  for (std::size_t i = 0; i < used; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Chain &a = chains[i], &b = chains[j];
      const bool beside = a.left > b.right + 1 || b.left > a.right + 1;
      const bool above = a.top > b.bottom + 1 || b.top > a.bottom + 1;
      if (!beside && !above) return false;
    }
  }
  return true;
}

void Rasterizer::line(std::span<const StrokePoint> points) {
  for (const StrokePoint& p : points) {
    if (p.x >= kLowest && p.x <= kHighest && p.y >= kLowest && p.y <= kHighest) continue;
    throw Failure(ErrorCode::too_large, "a point of a line is too far outside the image");
  }
  state_->add(points);
}

void Rasterizer::finish(rle::Image& out) {
  State& s = *state_;
  if (s.apart()) {
    // Parts that share rows must be added from left to right.
    std::sort(s.chains.begin(), s.chains.begin() + static_cast<std::ptrdiff_t>(s.used),
              [](const Chain& a, const Chain& b) { return a.left < b.left; });
    for (std::size_t i = 0; i < s.used; ++i) {
      s.sides.build(s.chains[i].points, s.radius);
      s.sides.draw(s.cells);
    }
    s.cells.sweep(out);
  } else {
    s.lay_over(out);
  }
  s.used = 0;
}

// Draws every stroke over the levels so far; pixels in which two strokes have an edge are measured at the end.
void Rasterizer::State::lay_over(rle::Image& out) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  levels.assign(pixels, 0);
  marks.assign(pixels, 0);
  if (all_sides.size() < used) all_sides.resize(used);
  for (std::size_t i = 0; i < used; ++i) {
    all_sides[i].build(chains[i].points, radius);
    all_sides[i].draw(cells);
    cells.sweep(out);
    for (int y = 0; y < height; ++y) {
      const std::uint8_t* literal = out.levels(y);
      const auto lay = [&](int x, std::uint8_t level) {
        const std::size_t at =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
        if (level != rle::kFull) marks[at] = marks[at] == 0 ? kEdge : kContested;
        levels[at] = std::max(levels[at], level);
      };
      for (const rle::PixelRun& run : out.row(y)) {
        for (int k = 0; k < run.literals; ++k) lay(run.x + k, *literal++);
        for (int k = 0; k < run.repeats; ++k) lay(run.x + run.literals + k, run.level);
      }
    }
  }
  out.begin(width, height);
  for (int y = 0; y < height; ++y) {
    out.begin_row();
    for (int x = 0; x < width; ++x) {
      const std::size_t at =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
      std::uint8_t level = levels[at];
      if (marks[at] == kContested && level != rle::kFull) {
        level = static_cast<std::uint8_t>(measured(x, y) * 255 + 0.5);
      }
      if (level > 0) out.add_literal(x, level);
    }
  }
  out.finish();
}

// Returns the area of the union of all strokes in a pixel, from the lengths in its columns.
double Rasterizer::State::measured(int x, int y) const {
  // docs/design/strokes.md gives the reasons for the constants of this file.
  constexpr int kColumns = 512;
  struct Interval {
    double begin, end;
  };
  std::vector<Interval> intervals;
  double area = 0;
  for (int c = 0; c < kColumns; ++c) {
    const double at = x - 0.5 + (c + 0.5) * (1.0 / kColumns);
    intervals.clear();
    for (std::size_t i = 0; i < used; ++i) {
      const Sides& s = all_sides[i];
      if (at < s.left() || at > s.right()) continue;
      const double begin = std::max(s.upper(at), y - 0.5), end = std::min(s.lower(at), y + 0.5);
      if (begin < end) intervals.push_back({begin, end});
    }
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    double reached = y - 0.5;
    for (const Interval& interval : intervals) {
      area += std::max(0.0, interval.end - std::max(reached, interval.begin));
      reached = std::max(reached, interval.end);
    }
  }
  return std::min(1.0, area * (1.0 / kColumns));
}

}  // namespace millrace::stroke
