#include <algorithm>
#include <cmath>

#include "src/kernels/stroke/stroke.h"

namespace millrace::stroke {
namespace {

// Squared distance of a point from a segment.
double distance2(double px, double py, const Point& a, const Point& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const double t = length2 > 0 ? std::clamp(((px - a.x) * dx + (py - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
  const double ex = px - (a.x + t * dx), ey = py - (a.y + t * dy);
  return ex * ex + ey * ey;
}

}  // namespace

std::vector<double> coverage_reference(std::span<const std::vector<Point>> lines, double line_width, int width,
                                       int height, int samples) {
  struct Segment {
    Point a, b;
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
      // Only segments that come within r of the pixel's square.
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

}  // namespace millrace::stroke
