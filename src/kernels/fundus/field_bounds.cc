#include "src/kernels/fundus/field_bounds.h"

#include <algorithm>
#include <cmath>

namespace millrace::fundus {
namespace {

// docs/design/fundus.md gives the reasons for the constants of this file.
constexpr double kNear = 1;  // distance in scaled pixels up to which a point lies on a circle or a line
constexpr double kMinScaledRadius = 64;
constexpr double kMaxCircle = 2 * kSide;  // maximum radius: of a larger circle, cut off at all sides, little boundary
                                          // is seen

// Uses square roots only: they are the same on every machine, other library functions are not.
double length_of(double x, double y) { return std::sqrt(x * x + y * y); }

// Returns the circle through three points.
std::optional<BoundaryCircle> through(const FundusPoint& a, const FundusPoint& b, const FundusPoint& c) {
  const double d = 2 * (a.x * (b.y - c.y) + b.x * (c.y - a.y) + c.x * (a.y - b.y));
  if (std::abs(d) < 1e-9) return std::nullopt;
  const double aa = a.x * a.x + a.y * a.y, bb = b.x * b.x + b.y * b.y, cc = c.x * c.x + c.y * c.y;
  BoundaryCircle out;
  out.center = {(aa * (b.y - c.y) + bb * (c.y - a.y) + cc * (a.y - b.y)) / d,
                (aa * (c.x - b.x) + bb * (a.x - c.x) + cc * (b.x - a.x)) / d};
  out.radius = length_of(a.x - out.center.x, a.y - out.center.y);
  if (out.radius <= kMinScaledRadius || out.radius >= kMaxCircle) return std::nullopt;
  return out;
}

// Returns the number of points on the circle. It compares squares instead of roots, because it is called thousands of
// times.
int count_on(const BoundaryCircle& circle, const std::array<FundusPoint, kAngles>& points) {
  const double least = (circle.radius - kNear) * (circle.radius - kNear),
               most = (circle.radius + kNear) * (circle.radius + kNear);
  int out = 0;
  for (const FundusPoint& p : points) {
    const double x = p.x - circle.center.x, y = p.y - circle.center.y, d = x * x + y * y;
    out += d > least && d < most ? 1 : 0;
  }
  return out;
}

void mark(BoundaryCircle& circle, const std::array<FundusPoint, kAngles>& points) {
  for (std::size_t k = 0; k < points.size(); ++k)
    circle.on[k] =
        std::abs(length_of(points[k].x - circle.center.x, points[k].y - circle.center.y) - circle.radius) < kNear;
}

// Least squares of x^2 + y^2 = 2 a x + 2 b y + c (Kasa), over the marked points.
void refit(BoundaryCircle& circle, const std::array<FundusPoint, kAngles>& points) {
  double n = 0, mx = 0, my = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!circle.on[k]) continue;
    n += 1;
    mx += points[k].x;
    my += points[k].y;
  }
  mx /= n;
  my /= n;
  double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0, z = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!circle.on[k]) continue;
    const double x = points[k].x - mx, y = points[k].y - my, s = x * x + y * y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
    xz += x * s;
    yz += y * s;
    z += s;
  }
  const double det = xx * yy - xy * xy;
  if (n < 3 || std::abs(det) < 1e-9) return;
  const double a = (xz * yy - yz * xy) / (2 * det), b = (yz * xx - xz * xy) / (2 * det);
  circle.center = {a + mx, b + my};
  circle.radius = std::sqrt(z / n + a * a + b * b);
}

// Line at a side, in scaled pixels, and the free points that lie on it.
struct Edge {
  BoundaryLine line;
  int count = 0;
  std::array<bool, kAngles> on{};
};

// Returns the line that most of the free points lie on and whose outward direction is that of this side within 10
// degrees.
Edge edge_of(const std::array<FundusPoint, kAngles>& points, const std::array<bool, kAngles>& free,
             const FundusPoint& outward) {
  constexpr double kMaxTilt = 0.985;  // the cosine of 10 degrees
  Edge best;
  const auto distance = [](const BoundaryLine& line, const FundusPoint& p) {
    return line.normal.x * p.x + line.normal.y * p.y - line.offset;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; free[i] && j < points.size(); ++j) {
      if (!free[j]) continue;
      const double x = points[j].x - points[i].x, y = points[j].y - points[i].y, length = length_of(x, y);
      if (length < 4) continue;
      if (points[i].x * outward.x + points[i].y * outward.y <= 0) continue;  // on the other side
      BoundaryLine line{{y / length, -x / length}, 0};
      double along = -(line.normal.x * outward.x + line.normal.y * outward.y);
      if (along < 0) {
        line.normal = {-line.normal.x, -line.normal.y};
        along = -along;
      }
      if (along < kMaxTilt) continue;
      line.offset = line.normal.x * points[i].x + line.normal.y * points[i].y;
      int count = 0;
      for (std::size_t k = 0; k < points.size(); ++k)
        count += free[k] && std::abs(distance(line, points[k])) < kNear ? 1 : 0;
      if (count > best.count) {
        best.count = count;
        best.line = line;
      }
    }
  }
  if (best.count == 0) return best;
  // Total least squares over the points on it.
  double n = 0, mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    best.on[k] = free[k] && std::abs(distance(best.line, points[k])) < kNear;
    if (!best.on[k]) continue;
    n += 1;
    mx += points[k].x;
    my += points[k].y;
  }
  mx /= n;
  my /= n;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!best.on[k]) continue;
    xx += (points[k].x - mx) * (points[k].x - mx);
    xy += (points[k].x - mx) * (points[k].y - my);
    yy += (points[k].y - my) * (points[k].y - my);
  }
  // Points spread most along the line: its angle is half of the one whose cosine and sine these are.
  const double spread = length_of(xx - yy, 2 * xy), cosine = spread > 0 ? (xx - yy) / spread : 1;
  FundusPoint normal{-std::copysign(std::sqrt(std::max((1 - cosine) / 2, 0.0)), xy),
                     std::sqrt(std::max((1 + cosine) / 2, 0.0))};
  if (normal.x * outward.x + normal.y * outward.y > 0) normal = {-normal.x, -normal.y};
  best.line = {normal, normal.x * mx + normal.y * my};
  return best;
}

// True if brightness falls at this step. In the flat dark the path of least cost goes round as well, but there
// brightness falls by no more than noise.
bool is_edge(const PolarImage& polar, std::size_t angle, std::size_t step) {
  constexpr std::size_t kNeighborhood = 4;
  constexpr double kMinFall = 0.03;  // share of the brightest
  const double* row = polar.data() + angle * kRadii;
  double inside = 0, outside = 0;
  for (std::size_t k = 1; k <= kNeighborhood; ++k) {
    inside += row[step - k];
    outside += row[std::min<std::size_t>(step + k, kRadii - 1)];
  }
  return inside - outside >= kMinFall * kNeighborhood;
}

// True if light reaches the corners.
bool is_full_frame(const BytePlane& red) {
  constexpr double kShare = 0.3;
  const auto mean = [&](double cx, double cy) {
    const std::int32_t half = std::max(std::min(red.width, red.height) / 64, 1);
    const auto x = static_cast<std::int32_t>(std::lround(cx * (red.width - 1))),
               y = static_cast<std::int32_t>(std::lround(cy * (red.height - 1)));
    double sum = 0, count = 0;
    for (std::int32_t v = std::max(y - half, 0); v <= std::min(y + half, red.height - 1); ++v)
      for (std::int32_t u = std::max(x - half, 0); u <= std::min(x + half, red.width - 1); ++u) {
        sum += red.samples[static_cast<std::ptrdiff_t>(v) * red.row + static_cast<std::ptrdiff_t>(u) * red.step];
        count += 1;
      }
    return sum / count;
  };
  const double least = kShare * mean(0.5, 0.5);
  return mean(0, 0) > least && mean(1, 0) > least && mean(0, 1) > least && mean(1, 1) > least;
}

}  // namespace

// Tries circles through three points, each a few angles apart, from every angle on: 9,216 triples. Every triple is
// tried, so that the answer depends on nothing but the points.
std::optional<BoundaryCircle> fit_circle(const std::array<FundusPoint, kAngles>& points) {
  constexpr std::array<std::size_t, 6> kApart = {19, 37, 53, 71, 89, 107};
  constexpr int kMinPoints = 24;
  std::optional<BoundaryCircle> best;
  int most = kMinPoints - 1;
  for (std::size_t i = 0; i < kAngles; ++i) {
    for (const std::size_t first : kApart) {
      for (const std::size_t second : kApart) {
        const auto circle = through(points[i], points[(i + first) % kAngles], points[(i + first + second) % kAngles]);
        if (!circle) continue;
        const int count = count_on(*circle, points);
        if (count <= most) continue;
        most = count;
        best = circle;
      }
    }
  }
  if (!best) return std::nullopt;
  mark(*best, points);
  refit(*best, points);
  return best;
}

std::optional<FieldBounds> find_field_bounds(const BytePlane& red) {
  const double step = static_cast<double>(std::max(red.width, red.height)) / kSide;
  // Halves are whole pixels, because the scaled photograph is taken about them.
  const std::int32_t half_width = red.width / 2, half_height = red.height / 2;
  const FundusPoint middle{static_cast<double>(half_width), static_cast<double>(half_height)};
  const auto unscaled = [&](const FundusPoint& p) { return FundusPoint{p.x * step + middle.x, p.y * step + middle.y}; };
  FieldBounds out;
  if (is_full_frame(red)) {
    out.center = {red.width / 2.0, red.height / 2.0};
    out.radius = length_of(red.width, red.height) / 2;
    out.full_frame = true;
    return out;
  }
  const PolarImage polar = to_polar(red);
  const std::array<int, kAngles> steps = find_boundary(polar);
  std::array<FundusPoint, kAngles> points;
  for (int a = 0; a < kAngles; ++a)
    points[static_cast<std::size_t>(a)] = point_at(a, steps[static_cast<std::size_t>(a)]);
  const auto circle = fit_circle(points);
  if (!circle) return std::nullopt;
  out.center = unscaled(circle->center);
  out.radius = circle->radius * step;
  std::array<bool, kAngles> free{}, sure{};
  int on = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    free[k] = !circle->on[k];
    sure[k] = is_edge(polar, k, static_cast<std::size_t>(steps[k]));
    on += circle->on[k] && sure[k] ? 1 : 0;
  }
  out.on_circle = out.explained = static_cast<double>(on) / kAngles;
  constexpr int kMinPoints = 10;
  for (const FundusPoint& outward : {FundusPoint{0, -1}, FundusPoint{0, 1}, FundusPoint{-1, 0}, FundusPoint{1, 0}}) {
    const Edge edge = edge_of(points, free, outward);
    if (edge.count < kMinPoints) continue;
    for (std::size_t k = 0; k < points.size(); ++k) {
      free[k] = free[k] && !edge.on[k];
      on += edge.on[k] && sure[k] ? 1 : 0;
    }
    // n . (p - middle) / step >= offset
    const BoundaryLine& line = edge.line;
    out.lines.push_back({line.normal, line.offset * step + line.normal.x * middle.x + line.normal.y * middle.y});
  }
  out.explained = static_cast<double>(on) / kAngles;
  return out;
}

}  // namespace millrace::fundus
