#include "src/kernels/closelook/closelook_seam.h"

#include <array>
#include <cmath>
#include <cstdlib>

namespace millrace::closelook {
namespace {

// How far off the line may lie: registration's error, and the pixels in which a reduction mixed both. What lies beyond
// on either side is looked at to a depth.
constexpr int kOff = 3, kMostDeep = 16, kFewestDeep = 3, kShortest = 32;

// One side of the part: lines of `in` along it, counted from the side; from 0 on they lie in the part, below 0 behind
// it.
class Side {
 public:
  // The side's place in shares of lines at its two ends, which may differ a little; first and last pixels along it.
  Side(const Raster& in, bool rows, bool from_last, std::array<double, 2> at, int first, int last)
      : in_(in),
        rows_(rows),
        from_last_(from_last),
        start_(at[0]),
        slope_((at[1] - at[0]) / std::max(1, last - first)),
        first_(first),
        last_(last) {
    const double count = rows ? in.height : in.width;
    const double behind = from_last ? count - std::max(at[0], at[1]) : std::min(at[0], at[1]);
    const double within = from_last ? std::min(at[0], at[1]) : count - std::max(at[0], at[1]);
    deep_ = std::min(kMostDeep, static_cast<int>(std::floor(std::min(behind, within))) - kOff - 2);
  }
  bool can_be_told() const { return deep_ >= kFewestDeep && last_ - first_ >= kShortest; }

  // The picture changes no more at the line than beside it, and there is about as much detail behind it, place by
  // place.
  bool goes_on() const {
    constexpr double kEdge = 1.35, kDetail = 0.3, kNoise = 8;  // in quarters of a level
    constexpr int kPlaces = 16;
    std::array<std::int64_t, kPlaces> behind{}, within{}, along_behind{}, along_within{};
    std::array<std::int64_t, 2 * kOff + 1> line{};
    std::array<int, kPlaces> lengths{};
    for (int i = first_; i + 1 < last_; ++i) {
      const auto p = static_cast<std::size_t>((i - first_) * kPlaces / (last_ - first_));
      ++lengths[p];
      for (int l = -kOff - deep_; l < kOff + deep_; ++l) {
        const int across = std::abs(luma(l + 1, i) - luma(l - 1, i));
        if (l < -kOff) {
          behind[p] += across;
          along_behind[p] += std::abs(luma(l, i + 1) - luma(l, i));
        } else if (l >= kOff) {
          within[p] += across;
          along_within[p] += std::abs(luma(l, i + 1) - luma(l, i));
        }
        if (l >= -kOff && l <= kOff) line[static_cast<std::size_t>(l + kOff)] += across;
      }
    }
    double least = 0, most = 0;
    std::int64_t sum_behind = 0, sum_within = 0, length = 0;
    for (std::size_t p = 0; p < kPlaces; ++p) {
      const double lines = static_cast<double>(deep_) * std::max(1, lengths[p]);
      const double b = static_cast<double>(behind[p] + along_behind[p]) / lines;
      const double w = static_cast<double>(within[p] + along_within[p]) / lines;
      least += std::min(b, w) + kNoise;
      most += std::max(b, w) + kNoise;
      sum_behind += behind[p];
      sum_within += within[p];
      length += lengths[p];
    }
    const double usual =
        static_cast<double>(std::max(sum_behind, sum_within)) / deep_ + kNoise * static_cast<double>(length);
    const auto edge = static_cast<double>(*std::max_element(line.begin(), line.end()));
    return edge <= kEdge * usual && least >= kDetail * most;
  }

 private:
  int luma(int line, int place) const {
    const int at = static_cast<int>(std::floor(start_ + slope_ * (place - first_) + 0.5));
    const int l = std::clamp(from_last_ ? at - 1 - line : at + line, 0, (rows_ ? in_.height : in_.width) - 1);
    const int x = rows_ ? place : l, y = rows_ ? l : place;
    const std::uint8_t* const p =
        in_.rgb.data() +
        3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(in_.width) + static_cast<std::size_t>(x));
    return p[0] + 2 * p[1] + p[2];
  }

  const Raster& in_;
  bool rows_, from_last_;
  double start_, slope_;
  int first_, last_, deep_ = 0;
};

}  // namespace

bool goes_on_around(const Raster& in, const Size& part, const Affine& to_in) {
  struct Point {
    double x, y;  // 0 is the outer edge of the first pixel
  };
  const auto corner = [&](bool right, bool bottom) {
    const double x = right ? part.width - 0.5 : -0.5, y = bottom ? part.height - 0.5 : -0.5;
    return Point{to_in.u(x, y) + 0.5, to_in.v(x, y) + 0.5};
  };
  const Point a = corner(false, false), b = corner(true, false), c = corner(false, true), d = corner(true, true);
  const auto pixels = [](double from, double to, int side) {
    return std::array<int, 2>{std::clamp(static_cast<int>(std::ceil(from)), 0, side),
                              std::clamp(static_cast<int>(std::floor(to)), 0, side)};
  };
  const auto [left, right] = pixels(std::max(a.x, c.x), std::min(b.x, d.x), in.width);
  const auto [top, bottom] = pixels(std::max(a.y, b.y), std::min(c.y, d.y), in.height);
  int told = 0, seams = 0;
  for (const Side& side :
       {Side(in, false, false, {a.x, c.x}, top, bottom), Side(in, false, true, {b.x, d.x}, top, bottom),
        Side(in, true, false, {a.y, b.y}, left, right), Side(in, true, true, {c.y, d.y}, left, right)}) {
    if (!side.can_be_told()) continue;
    ++told;
    seams += side.goes_on() ? 0 : 1;
  }
  // What holds a picture ends at all of its sides, but where both are of one tone; what goes on may have an edge of its
  // own at one.
  return 2 * seams < std::max(1, told);
}

}  // namespace millrace::closelook
