// Input: the red channel of a photograph of an eye's fundus.
// Output: the lit field of view in it: a circle, and lines where the photograph cuts it off.
// Never: depends on chance: circles and lines are those that most points of the boundary agree with.
//
// Method: the photograph is scaled to 256 x 256 about its middle and converted to polar coordinates. There are 256
// angles by 328 radii of 142/256 of these pixels, which reaches the corners. The boundary is a path of least cost
// around, where brightness falls most along the radius into the dark. It has 256 points, each of a whole radius. Up to
// there it is what the public retinalysis-fundusprep 1.3.0 finds, whose radii end at 256; docs/fundus.md has all of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::fundus {

struct Point {
  double x = 0, y = 0;
};

// Points p with normal . p >= offset lie inside; the normal has length 1.
struct Line {
  Point normal;
  double offset = 0;
};

// Field of view in pixels, the middle of the first one being (0, 0).
struct Bounds {
  Point center;
  double radius = 0;
  std::vector<Line> lines{};  // at most one at each side
  double explained = 0;       // share of the boundary's points that lie on the circle or a line
  double on_circle = 0;       // share of them that lie on the circle
  bool full_frame = false;    // true if there is no boundary: the circle is around all of the photograph
};

// Plane of one byte a pixel: at(x, y) = samples[y * row + x * step].
struct Plane {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t row = 0, step = 1;
  std::int32_t width = 0, height = 0;
};

// Returns nothing where no circle is found, as in a picture of something else. Sides are 16 to 1 << 20.
std::optional<Bounds> find_bounds(const Plane& red);

// Stages of find_bounds(), for tests and for inspection.
inline constexpr int kAngles = 256, kRadii = 328, kSide = 256;
inline constexpr double kStep = 142.0 / 256;  // step of the radius, in scaled pixels
inline constexpr int kLeastRadius = 64;       // minimum radius, in steps; below it there is no boundary
using Polar = std::vector<double>;            // [angle][radius], relative to the brightest: 0 to 1
Polar polar_of(const Plane& red);
// Returns a step of the radius for each angle.
std::array<int, kAngles> boundary_of(const Polar& polar);
// Circle in scaled pixels, about the middle of the scaled photograph, and the points that lie on it.
struct Circle {
  Point center;
  double radius = 0;
  std::array<bool, kAngles> on{};
};
std::optional<Circle> circle_of(const std::array<Point, kAngles>& points);
// Returns the point of a step of the radius at an angle, about the middle.
Point point_at(int angle, double step);

}  // namespace millrace::fundus
