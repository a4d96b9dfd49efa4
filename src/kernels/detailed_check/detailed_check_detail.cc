#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/kernels/detailed_check/detailed_check_pair.h"

namespace millrace::detailed_check {
namespace {

// docs/design/detailed-check.md gives the reasons for the constants of this file.

// Sums of squares of the detail that a blur removes, over the rows' inner parts, in cells; and their pixel counts.
struct Rest {
  static constexpr int kCell = 32;
  int columns = 0;
  std::vector<double> sums, counts;

  Rest(const Plane& picture, const Plane& soft, const std::vector<PixelSpan>& rows) {
    columns = (picture.width() + kCell - 1) / kCell;
    sums.assign(static_cast<std::size_t>(columns) * static_cast<std::size_t>((picture.height() + kCell - 1) / kCell),
                0);
    counts = sums;
    for (int y = 0; y < picture.height(); ++y) {
      const PixelSpan row = rows[static_cast<std::size_t>(y)];
      const float *p = picture.row(y), *s = soft.row(y);
      for (int x = row.begin; x < row.end; ++x) {
        const double d = static_cast<double>(p[x] - s[x]);
        const auto cell = static_cast<std::size_t>(y / kCell * columns + x / kCell);
        sums[cell] += d * d;
        counts[cell] += 1;
      }
    }
  }
  static double root(double sum, double count) { return count == 0 ? 0 : std::sqrt(sum / count); }
  double rms() const {
    return root(std::accumulate(sums.begin(), sums.end(), 0.0), std::accumulate(counts.begin(), counts.end(), 0.0));
  }
  double rms(std::size_t cell) const { return root(sums[cell], counts[cell]); }
};

}  // namespace

bool PairComparison::is_enlarged(const PictureRaster& few, const PictureRaster& many, const Affine& to_few) {
  // The finest detail that the picture of few pixels can show has to lie well within what the raster of the other
  // shows.
  constexpr double kWithin = 0.85, kFar = 0.2;
  if (to_few.scale() > kWithin || to_few.scale() < kFar) return false;
  // The middle has to look enlarged, and no other part may contradict it.
  constexpr int kMaxCount = 1024;
  const int w = std::min(kMaxCount, many.width), h = std::min(kMaxCount, many.height);
  const int left = (many.width - w) / 2, top = (many.height - h) / 2;
  if (!has_no_finer_detail(few, many, to_few, {left, top, left + w, top + h}, true)) return false;
  for (int y = 0; y < many.height; y += kMaxCount) {
    for (int x = 0; x < many.width; x += kMaxCount) {
      const PixelBox box = {x, y, std::min(many.width, x + kMaxCount), std::min(many.height, y + kMaxCount)};
      if (!has_no_finer_detail(few, many, to_few, box, false)) return false;
    }
  }
  return true;
}

bool PairComparison::has_no_finer_detail(const PictureRaster& few, const PictureRaster& many, const Affine& to_few,
                                         const PixelBox& box, bool all_over) {
  const int w = box.right - box.left, h = box.bottom - box.top;
  const PixelBox other = warp_box(to_few, box, size_of(few));
  if (other.right - other.left < 32 || other.bottom - other.top < 32) return !all_over;
  sample(many, areas_of(box), target);
  sample(few, areas_of(other), source);
  const Affine warp = then(then(shift(box.left, box.top), to_few), shift(-other.left, -other.top));
  std::vector<PixelSpan> rows;
  if (all_over) {
    luma_of(source, luma_b);
    rows.assign(static_cast<std::size_t>(luma_b.height()), PixelSpan{0, luma_b.width()});
    blur(luma_b, 0.8, soft_a);
    blur(luma_b, 2, soft_b);
    const double fine = Rest(luma_b, soft_a, rows).rms(), coarse = Rest(luma_b, soft_b, rows).rms();
    // A soft picture looks enlarged but is not: the picture of few pixels has to be crisp.
    constexpr double kCrisp = 0.3, kSomething = 1;
    if (fine < kSomething || fine < kCrisp * coarse) return false;
  }
  for (Plane& plane : moved) plane.size(w, h);
  interleave(source, interleaved);
  warp_cubic(interleaved, warp, moved);
  luma_of(target, luma_a);
  luma_of(moved, luma_b);
  rows.assign(static_cast<std::size_t>(h), PixelSpan{0, 0});
  for (int y = 2; y < h - 2; ++y)
    rows[static_cast<std::size_t>(y)] = inside_row(warp, y, w, source[0].width(), source[0].height(), -2.0);
  blur(luma_a, 1, soft_a);
  blur(luma_b, 1, soft_b);
  const Rest in_many(luma_a, soft_a, rows), in_few(luma_b, soft_b, rows);
  // Ratios of pictures that were enlarged 1.25 to 3 times with linear, cubic or Lanczos interpolation: 0.67 to 1.09 in
  // 485 pairs. Ratios of pictures reduced to 0.6 to 0.8 of the side: 1.12 and more.
  constexpr double kMore = 1.1;
  if (all_over) return in_many.rms() < kMore * in_few.rms();
  // Words that were set over an enlarged picture are sharp.
  constexpr double kMoreHere = 1.5, kNoise = 2.5;
  for (std::size_t cell = 0; cell < in_many.sums.size(); ++cell) {
    if (in_many.rms(cell) > kMoreHere * in_few.rms(cell) + kNoise) return false;
  }
  return true;
}

}  // namespace millrace::detailed_check
