// The device code repeats this operation by operation: src/kernels/chart/body, outline.inc and corners.inc.
#include "src/kernels/stroke/stroke_envelope.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/stroke/stroke_fixed.h"

namespace millrace::stroke {

// docs/design/strokes.md gives the reasons for the constants of this file.

void Envelope::build(std::span<const StrokePoint> points, double radius) {
  radius_ = radius;
  side_ = 1;
  legs_.clear();
  const std::size_t legs = points.size() < 2 ? 1 : points.size() - 1;
  for (std::size_t i = 0; i < legs; ++i) {
    const StrokePoint& a = points[i];
    const StrokePoint& b = points[std::min(i + 1, points.size() - 1)];
    Leg leg{a.x, a.y, b.x, b.y, 0, -1, 0};
    const double dx = leg.x1 - leg.x0, dy = leg.y1 - leg.y0, length = std::sqrt(dx * dx + dy * dy);
    if (length > 0) {
      leg.nx = dy / length;
      leg.ny = -dx / length;
    }
    if (dx > 0) leg.slope = dy / dx;
    legs_.push_back(leg);
  }
  left_ = points.front().x - radius;
  right_ = points.back().x + radius;
  find_pieces();
}

void Envelope::build_opposite(const Envelope& other) {
  radius_ = other.radius_;
  side_ = -other.side_;
  left_ = other.left_;
  right_ = other.right_;
  legs_.clear();
  for (const Leg& l : other.legs_) legs_.push_back({l.x0, -l.y0, l.x1, -l.y1, -l.nx, l.ny, -l.slope});
  find_pieces();
}

void Envelope::find_pieces() {
  pieces_.clear();
  for (std::size_t j = 0; j < legs_.size(); ++j) {
    double begin = legs_[j].x0 - radius_;
    while (!pieces_.empty()) {
      begin = crossing(pieces_.back().leg, j, pieces_.back().begin);
      if (begin > pieces_.back().begin) break;
      pieces_.pop_back();
      begin = left_;
    }
    pieces_.push_back({begin, j});
  }
  find_straights();
}

void Envelope::find_straights() {
  straights_.assign(legs_.size(), {0, 0, false, false});
  const std::size_t pieces = pieces_.size();
  for (std::size_t k = 0; k < pieces; ++k) {
    const std::size_t i = pieces_[k].leg, before = k - (k > 0 ? 1 : 0), behind = k + (k + 1 < pieces ? 1 : 0);
    const double end = k + 1 < pieces ? pieces_[k + 1].begin : right_;
    const double end_behind = k + 2 < pieces ? pieces_[k + 2].begin : right_;
    const Leg& leg = legs_[i];
    Straight& straight = straights_[i];
    straight.begin = std::max(pieces_[k].begin, leg.x0 + radius_ * leg.nx);
    straight.end = std::min(end, leg.x1 + radius_ * leg.nx);
    // From leg to leg, the side goes up to a common disc and up from it, or down both times. Branches are avoided, as
    // they would be mispredicted half of the time.
    const auto all = [](bool a, bool b, bool c) {
      return (static_cast<int>(a) & static_cast<int>(b) & static_cast<int>(c)) != 0;
    };
    const Leg &leg_before = legs_[pieces_[before].leg], &leg_behind = legs_[pieces_[behind].leg];
    straight.goes_on_before = all(pieces_[before].leg + 1 == i, leg_before.nx * leg.nx > 0,
                                  pieces_[before].begin <= floor_of(straight.begin + 0.5) - 0.5);
    straight.goes_on_behind =
        all(pieces_[behind].leg == i + 1, leg_behind.nx * leg.nx > 0, end_behind >= ceil_of(straight.end + 0.5) - 0.5);
  }
}

double Envelope::outer(const Leg& leg, double x) const {
  const double begin = leg.x0 + radius_ * leg.nx, end = leg.x1 + radius_ * leg.nx;
  if (x > begin && x < end) return leg.y0 + radius_ * leg.ny + (x - begin) * leg.slope;
  const double u = x <= begin ? x - leg.x0 : x - leg.x1;
  const double v = std::sqrt(std::max(0.0, radius_ * radius_ - u * u));
  return (x <= begin ? leg.y0 : leg.y1) - v;
}

// Returns the x at or after `from` from which `later` is the outer one of the two; `from` if it already is there.
double Envelope::crossing(std::size_t previous, std::size_t later, double from) const {
  const Leg& a = legs_[previous];
  const Leg& b = legs_[later];
  if (previous + 1 == later) {
    const double turn = a.nx * b.ny - a.ny * b.nx;
    // The line turns away from this side: between its ends, the arc around the common point belongs to both capsules.
    if (turn >= 0 && a.nx * b.nx + a.ny * b.ny > -1) {
      return std::max(from, b.x0 + radius_ * std::clamp(0.0, a.nx, std::max(a.nx, b.nx)));
    }
    // The line turns towards this side: the offset lines of long legs meet. Vertical offset lines have no x of the
    // meeting.
    constexpr double kUpright = 1e-9;
    const bool slanted = a.x1 - a.x0 > kUpright && b.x1 - b.x0 > kUpright;
    const double x = b.x0 + radius_ * (a.nx + b.nx) / (1 + a.nx * b.nx + a.ny * b.ny);
    if (slanted && x >= a.x0 + radius_ * a.nx && x <= b.x1 + radius_ * b.nx) return std::max(from, x);
  }
  double low = std::max(from, b.x0 - radius_), high = a.x1 + radius_;
  if (low >= high || outer(b, low) <= outer(a, low)) return low;
  if (outer(b, high) > outer(a, high)) return high;
  // Bisection to 2^-20 of a pixel.
  while (high - low > 1.0 / (1 << 20)) {
    const double middle = 0.5 * (low + high);
    (outer(b, middle) <= outer(a, middle) ? high : low) = middle;
  }
  return high;
}

double Envelope::at(double x) const {
  auto piece =
      std::upper_bound(pieces_.begin(), pieces_.end(), x, [](double v, const Piece& p) { return v < p.begin; });
  if (piece != pieces_.begin()) --piece;
  return side_ * outer(legs_[piece->leg], x);
}

ChordTurns::ChordTurns(double radius) {
  // Returns 1 - a^2 / 2, but not less than 0.07, the cosine of 1.5.
  const auto cosine_of = [](double angle) { return angle >= 1.36 ? 0.07 : 1 - angle * angle / 2; };
  // Chords of equal area cross the circle, so a pixel gains or loses about c^3 / 80 r for a chord c. A single chord
  // cannot be moved outwards and loses c^3 / 12 r: it must be half as long.
  const double chord = 0.3 * std::sqrt(std::sqrt(radius));
  coarsest = cosine_of(chord / radius);
  alone = cosine_of(0.5 * chord / radius);
}

int ChordTurns::max_halvings() const {
  int out = 0;
  double part = -1;
  do {
    part = std::sqrt(std::max(0.0, 0.5 * (1 + part)));
    ++out;
  } while (part < coarsest);
  return out;
}

// Writes corners to an outline.
class Envelope::Tracer {
 public:
  Tracer(StrokeOutline& out, double radius, int side) : out_(out), radius_(radius), side_(side), turns_(radius) {}

  void to(double x, double y) { out_.corners.push_back({to_fixed(x + 0.5), to_fixed(side_ * y + 0.5)}); }
  // Ends a line of corners.
  void end() { out_.begins.push_back(out_.corners.size()); }

  // Follows the circle around (cx, cy) between two unit vectors, clockwise on the upper side, without both ends.
  void arc(double cx, double cy, double ux, double uy, double vx, double vy) {
    const double cosine = ux * vx + uy * vy;
    if (cosine >= turns_.alone) return;
    // The arc is halved until the parts are small. They are equal, so one radius fits all.
    Circle circle{cx, cy, radius_, {}};
    int halvings = 0;
    double part = cosine;
    do {
      part = std::sqrt(std::max(0.0, 0.5 * (1 + part)));
      circle.halves[static_cast<std::size_t>(halvings++)] = 0.5 / part;
    } while (part < turns_.coarsest);
    // Corners other than the first and the last lie further out, so that the chords enclose the same area as the arc.
    const double chords = 1 << halvings;
    circle.radius *= 1 + (1 - part) * (1.0 / 6) * chords / (chords - 1);
    if (cosine > -0.99) return split(circle, ux, uy, vx, vy, 0, halvings);
    // For about half a circle, the middle is about a quarter turn from the begin.
    double mx = vy - uy, my = ux - vx;
    const double length = std::sqrt(mx * mx + my * my);
    mx /= length;
    my /= length;
    split(circle, ux, uy, mx, my, 1, halvings);
    to(circle.x + circle.radius * mx, circle.y + circle.radius * my);
    split(circle, mx, my, vx, vy, 1, halvings);
  }

 private:
  static constexpr std::size_t kMaxHalvings = 16;
  struct Circle {
    double x, y, radius;
    // Factors by which the sum of two unit vectors gives their middle, by number of halvings.
    std::array<double, kMaxHalvings> halves;
  };

  void split(const Circle& circle, double ux, double uy, double vx, double vy, int done, int halvings) {
    if (done == halvings) return;
    const double half = circle.halves[static_cast<std::size_t>(done)], mx = (ux + vx) * half, my = (uy + vy) * half;
    split(circle, ux, uy, mx, my, done + 1, halvings);
    to(circle.x + circle.radius * mx, circle.y + circle.radius * my);
    split(circle, mx, my, vx, vy, done + 1, halvings);
  }

  StrokeOutline& out_;
  const double radius_;
  const int side_;
  const ChordTurns turns_;
};

void Envelope::draw(std::span<const Gap> gaps, StrokeOutline& out) const {
  out.clear();
  Tracer tracer(out, radius_, side_);
  const double r = radius_, inverse = 1 / radius_;
  // Both sides begin and end at the same points, even if the first or last leg is vertical.
  tracer.to(left_, legs_.front().y0);
  for (std::size_t k = 0; k < pieces_.size(); ++k) {
    const Leg& leg = legs_[pieces_[k].leg];
    const double begin = pieces_[k].begin, end = k + 1 < pieces_.size() ? pieces_[k + 1].begin : right_;
    const double line_begin = leg.x0 + r * leg.nx, line_end = leg.x1 + r * leg.nx;
    // Returns the unit vector from a disc's centre to its upper edge at x.
    const auto edge_at = [&](double cx, double x, double& ux, double& uy) {
      ux = std::clamp((x - cx) * inverse, -1.0, 1.0);
      uy = -std::sqrt(std::max(0.0, 1 - ux * ux));
    };
    double ux = leg.nx, uy = leg.ny, vx = leg.nx, vy = leg.ny;
    if (begin < line_begin) {
      edge_at(leg.x0, begin, ux, uy);
      if (end < line_begin) edge_at(leg.x0, end, vx, vy);
      tracer.to(leg.x0 + r * ux, leg.y0 + r * uy);
      tracer.arc(leg.x0, leg.y0, ux, uy, vx, vy);
      tracer.to(leg.x0 + r * vx, leg.y0 + r * vy);
      if (end <= line_begin) continue;
    } else if (begin < line_end) {
      tracer.to(begin, leg.y0 + r * leg.ny + (begin - line_begin) * leg.slope);
    }
    const Gap& gap = gaps[pieces_[k].leg];
    if (gap.y0 != gap.y1) {
      tracer.to(gap.x0, side_ * gap.y0);
      tracer.end();
      tracer.to(gap.x1, side_ * gap.y1);
    }
    if (end < line_end) {
      tracer.to(end, leg.y0 + r * leg.ny + (end - line_begin) * leg.slope);
      continue;
    }
    ux = leg.nx, uy = leg.ny;
    if (begin > line_end) edge_at(leg.x1, begin, ux, uy);
    edge_at(leg.x1, end, vx, vy);
    tracer.to(leg.x1 + r * ux, leg.y1 + r * uy);
    tracer.arc(leg.x1, leg.y1, ux, uy, vx, vy);
    tracer.to(leg.x1 + r * vx, leg.y1 + r * vy);
  }
  tracer.to(right_, legs_.back().y1);
}

}  // namespace millrace::stroke
