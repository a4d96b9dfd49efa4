// Input: the red channel of a photograph of an eye's fundus.
// Output: the lit field of view in it: a circle, and lines where the photograph cuts it off.
// Never: depends on chance: circles and lines are those that most points of the boundary agree with.
//
// Method: the photograph is scaled to 256 x 256 about its middle and converted to polar coordinates. There are 256
// angles by 328 radii of 142/256 of these pixels, which reaches the corners. The boundary is a path of least cost
// around, where brightness falls most along the radius into the dark. It has 256 points, each of a whole radius. Up to
// there it is what the public retinalysis-fundusprep 1.3.0 finds, whose radii end at 256. docs/design/fundus.md has
// all of it, with the reasons for the constants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::fundus {

struct FundusPoint {
  double x = 0, y = 0;
};

// Points p with normal . p >= offset lie inside; the normal has length 1.
struct BoundaryLine {
  FundusPoint normal;
  double offset = 0;
};

// Field of view in pixels, the middle of the first one being (0, 0).
struct FieldBounds {
  FundusPoint center;
  double radius = 0;
  std::vector<BoundaryLine> lines{};  // at most one at each side
  double explained = 0;               // share of the boundary's points that lie on the circle or a line
  double on_circle = 0;               // share of them that lie on the circle
  bool full_frame = false;            // true if there is no boundary: the circle is around all of the photograph
};

// Plane of one byte a pixel: at(x, y) = samples[y * row + x * step].
struct BytePlane {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t row = 0, step = 1;
  std::int32_t width = 0, height = 0;
};

// Returns nothing where no circle is found, as in a picture of something else. Sides are 16 to 1 << 20.
std::optional<FieldBounds> find_field_bounds(const BytePlane& red);

// Stages of find_field_bounds(), for tests and for inspection.
inline constexpr int kAngles = 256, kRadii = 328, kSide = 256;
inline constexpr double kStep = 142.0 / 256;  // step of the radius, in scaled pixels
inline constexpr int kMinRadius = 64;         // minimum radius, in steps; below it there is no boundary
using PolarImage = std::vector<double>;       // [angle][radius], relative to the brightest: 0 to 1
PolarImage to_polar(const BytePlane& red);
// Returns a step of the radius for each angle.
std::array<int, kAngles> find_boundary(const PolarImage& polar);
// Circle in scaled pixels, about the middle of the scaled photograph, and the points that lie on it.
struct BoundaryCircle {
  FundusPoint center;
  double radius = 0;
  std::array<bool, kAngles> on{};
};
std::optional<BoundaryCircle> fit_circle(const std::array<FundusPoint, kAngles>& points);
// Returns the point of a step of the radius at an angle, about the middle.
FundusPoint point_at(int angle, double step);

}  // namespace millrace::fundus
