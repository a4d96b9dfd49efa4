#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/stroke/stroke.h"

namespace millrace::stroke {
namespace {

// Returns the squared distance of a point from a segment.
double distance2(double px, double py, const StrokePoint& a, const StrokePoint& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const double t = length2 > 0 ? std::clamp(((px - a.x) * dx + (py - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
  const double ex = px - (a.x + t * dx), ey = py - (a.y + t * dy);
  return ex * ex + ey * ey;
}

}  // namespace

std::vector<double> coverage_reference(std::span<const std::vector<StrokePoint>> lines, double line_width, int width,
                                       int height, int samples) {
  struct Segment {
    StrokePoint a, b;
  };
  std::vector<Segment> segments;
  for (const auto& line : lines) {
    if (line.size() == 1) segments.push_back({line[0], line[0]});
    for (std::size_t i = 1; i < line.size(); ++i) segments.push_back({line[i - 1], line[i]});
  }
  const double r = line_width / 2;
  std::vector<double> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0.0);
  std::vector<Segment> near;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      // Only segments within r of the pixel's square count.
      near.clear();
      bool full = false;
      for (const Segment& s : segments) {
        const double d = std::sqrt(distance2(x, y, s.a, s.b));
        if (d < r + 0.7072) near.push_back(s);
        if (d < r - 0.7072) full = true;
      }
      double& share = out[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
      if (full) share = 1;
      if (full || near.empty()) continue;
      int inside = 0;
      for (int v = 0; v < samples; ++v) {
        for (int u = 0; u < samples; ++u) {
          const double px = x - 0.5 + (u + 0.5) / samples, py = y - 0.5 + (v + 0.5) / samples;
          inside += std::any_of(near.begin(), near.end(),
                                [&](const Segment& s) { return distance2(px, py, s.a, s.b) <= r * r; });
        }
      }
      share = static_cast<double>(inside) / (static_cast<double>(samples) * samples);
    }
  }
  return out;
}

namespace {

struct Interval {
  double begin, end;
};

// Finds the interval in which a vertical line at x lies within r of a segment. It is the hull of its parts in both
// discs and the rectangle.
bool crossed(const StrokePoint& a, const StrokePoint& b, double r, double x, Interval& out) {
  out = {1e9, -1e9};
  const auto reach = [&](double y) { out = {std::min(out.begin, y), std::max(out.end, y)}; };
  for (const StrokePoint& centre : {a, b}) {
    const double u = x - centre.x, left = r * r - u * u;
    if (left < 0) continue;
    reach(centre.y - std::sqrt(left));
    reach(centre.y + std::sqrt(left));
  }
  const double dx = b.x - a.x, dy = b.y - a.y, length = std::sqrt(dx * dx + dy * dy);
  if (length > 0) {
    const double nx = -dy / length * r, ny = dx / length * r;
    const std::array<StrokePoint, 5> corners = {
        {{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny}, {a.x - nx, a.y - ny}, {a.x + nx, a.y + ny}}};
    for (std::size_t i = 0; i < 4; ++i) {
      const StrokePoint &p = corners[i], &q = corners[i + 1];
      if ((p.x - x) * (q.x - x) > 0) continue;
      if (p.x == q.x) {
        reach(p.y);
        reach(q.y);
      } else {
        reach(p.y + (q.y - p.y) * (x - p.x) / (q.x - p.x));
      }
    }
  }
  return out.begin < out.end;
}

}  // namespace

std::vector<double> column_reference(std::span<const std::vector<StrokePoint>> lines, double line_width, int width,
                                     int height, int columns) {
  const double r = line_width / 2;
  std::vector<double> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0.0);
  std::vector<Interval> all;
  for (int c = 0; c < width * columns; ++c) {
    const double x = -0.5 + (c + 0.5) / columns;
    all.clear();
    for (const auto& line : lines) {
      for (std::size_t i = 0; i + 1 < std::max<std::size_t>(2, line.size()) && !line.empty(); ++i) {
        const StrokePoint &a = line[i], &b = line[std::min(i + 1, line.size() - 1)];
        Interval interval{};
        if (x < std::min(a.x, b.x) - r || x > std::max(a.x, b.x) + r) continue;
        if (crossed(a, b, r, x, interval)) all.push_back(interval);
      }
    }
    std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    double reached = -1e9;
    for (const Interval& interval : all) {
      const double begin = std::max(interval.begin, reached), end = interval.end;
      if (end <= begin) continue;
      reached = end;
      const int first = std::max(0, static_cast<int>(std::floor(begin + 0.5)));
      const int last = std::min(height - 1, static_cast<int>(std::floor(end + 0.5)));
      for (int y = first; y <= last; ++y) {
        const double covered = std::min(end, y + 0.5) - std::max(begin, y - 0.5);
        if (covered <= 0) continue;
        out[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(c / columns)] +=
            covered / columns;
      }
    }
  }
  return out;
}

}  // namespace millrace::stroke
