// Input: rasters of two pictures.
// Output: the steps of their comparison, for the files of this folder and their tests.
// Never: used from outside this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/kernels/detailed_check/detailed_check.h"

namespace millrace::detailed_check {

// Values in rows of one length. Rows are processed sixteen values at a time: values behind a row's end may be read and
// written, and have no meaning.
class Plane {
 public:
  void size(int width, int height) {
    width_ = width;
    height_ = height;
    stride_ = (static_cast<std::size_t>(width) + 15) / 16 * 16;
    values_.resize(std::max(values_.size(), stride_ * static_cast<std::size_t>(height) + 32));
  }
  int width() const { return width_; }
  int height() const { return height_; }
  // Number of values from one row to the next.
  std::size_t stride() const { return stride_; }
  float* row(int y) { return values_.data() + 16 + stride_ * static_cast<std::size_t>(y); }
  const float* row(int y) const { return values_.data() + 16 + stride_ * static_cast<std::size_t>(y); }

 private:
  int width_ = 0, height_ = 0;
  std::size_t stride_ = 0;
  std::vector<float> values_;
};
using Colour = std::array<Plane, 3>;  // red, green, blue, 0..255

// Sides of a raster, in pixels.
struct Size {
  int width = 0, height = 0;
};
inline Size size_of(const Plane& plane) { return {plane.width(), plane.height()}; }
inline Size size_of(const Colour& colour) { return size_of(colour[0]); }
inline Size size_of(const PictureRaster& raster) { return {raster.width, raster.height}; }

// The three channels side by side, and a fourth value without meaning, so that each pixel is one vector. The edge
// pixels are repeated in a border of kPad pixels.
struct Interleaved {
  static constexpr int kPad = 8;
  int width = 0, height = 0;
  std::vector<float> values;

  std::size_t stride() const { return static_cast<std::size_t>(width + 2 * kPad); }  // pixels from row to row
};
void interleave(const Colour& from, Interleaved& to);

// Affine map between two rasters. A point (x, y) of one lies at (m0 x + m1 y + m2, m3 x + m4 y + m5) of the other. The
// middle of the first pixel is (0, 0).
struct Affine {
  std::array<double, 6> m = {1, 0, 0, 0, 1, 0};

  double u(double x, double y) const { return m[0] * x + m[1] * y + m[2]; }
  double v(double x, double y) const { return m[3] * x + m[4] * y + m[5]; }
  // Number of pixels of the second raster to one of the first, along a side.
  double scale() const;
  Affine inverse() const;
  // Returns the nearest map that only shifts by whole pixels, if no corner of a raster moves by more than `most`
  // pixels. Otherwise returns this map.
  Affine snapped(double width, double height, double most) const;
  bool is_whole_shift() const;
  // Returns the same map between rasters that have from_x, from_y and to_x, to_y times as many pixels.
  Affine rescaled(double from_x, double from_y, double to_x, double to_y) const;
};
Affine shift(double x, double y);
// Returns the largest difference, in pixels along an axis, between where two maps put a corner of the first raster.
double max_corner_distance(const Affine& one, const Affine& other, double width, double height);
// Composes two maps: `first` is applied first, then `second`.
Affine then(const Affine& first, const Affine& second);

// Left, top, right, bottom in pixels, the last two exclusive. For a picture with a plain frame it is the box that the
// frame encloses.
struct PixelBox {
  int left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const PixelBox&) const = default;
};
// Returns the bounding box of a box under a warp, a little enlarged and clipped to `in`.
PixelBox warp_box(const Affine& warp, const PixelBox& box, const Size& in);
// Returns the box inside a plain frame. The frame is the outer rows and columns whose every pixel is within 10 of the
// outermost row's median, in each channel.
PixelBox content_box(const Colour& picture);

// Returns the length of a side at `scale`, which is at most 1: no less than 8 pixels, and no more than the side.
int shrink_side(int side, double scale);
// Areas of one size, side by side, in another raster's pixels: each becomes a pixel of a new raster, or of a part of
// one.
struct Areas {
  double left = 0, top = 0, across = 1, down = 1;
  int width = 0, height = 0;  // number of areas
};
inline Areas areas_of(const PixelBox& box) {
  return {static_cast<double>(box.left), static_cast<double>(box.top), 1, 1,
          box.right - box.left,          box.bottom - box.top};
}
// Areas of a box at `scale`.
Areas areas_of(const PixelBox& box, double scale);
// Writes the means over areas; what lies outside the raster is left out of them.
void sample(const PictureRaster& from, const Areas& areas, Colour& to);
// Adds bytes, times a weight, to floats.
void add_bytes(const std::uint8_t* from, float weight, std::size_t count, float* to);
// Splits interleaved bytes into three channels.
void split_bytes(const std::uint8_t* from, int count, float* red, float* green, float* blue);
// Reduces to `scale` by means over areas.
void shrink(const PictureRaster& from, double scale, Colour& to);
void shrink(const Colour& from, double scale, Colour& to);
void shrink(const Plane& from, double scale, Plane& to);
// Writes means of two by two; an odd last row or column is left out.
void halve(const Plane& from, Plane& to);
void luma_of(const Colour& from, Plane& to);

// Blurs with a Gaussian of this standard deviation, edges mirrored.
void blur(const Plane& from, double sigma, Plane& to);
void blur_reference(const Plane& from, double sigma, Plane& to);

// Samples `from` linearly at the warped positions of a raster of the size of `to`; edge values repeat beyond the edges.
void warp_linear(const Plane& from, const Affine& warp, Plane& to);
// Sampling positions for the pixels of a row. `first` is the index of the first of the sixteen pixels around each
// position in the other raster. `across` and `down` are the distances from the second of them. Positions far outside
// are clamped to the edge's neighbourhood.
struct SamplePositions {
  std::vector<std::int32_t> first;
  std::vector<float> across, down;
};
void find_sample_positions(const Affine& warp, int y, int width, const Interleaved& in, SamplePositions& out);
void warp_cubic(const Interleaved& from, const Affine& warp, Colour& to);

// Pixels of a row that a warp puts into the other raster, or at most `margin` beyond the middles of its outer pixels.
struct PixelSpan {
  int begin, end;
};
PixelSpan inside_row(const Affine& warp, int y, int width, int other_width, int other_height, double margin);

// Registration by Gauss-Newton on position, gain and bias (Lucas and Kanade 1981), residuals weighted after Geman and
// McClure. Both planes are blurred by the caller.
struct Fit {
  Affine warp;
  double gain = 1, bias = 0;
};
struct FitScratch {
  Plane warped;
  std::vector<std::uint32_t> histogram;
};
Fit register_luma(const Plane& first, const Plane& second, const Affine& start, int steps, FitScratch& scratch);
// Quality of a fit.
struct Misfit {
  double misfit = 1e9;  // mean residual over the standard deviation of the first
  double overlap = 0;   // share of the first that the second covers
};
Misfit measure_misfit(const Plane& first, const Plane& second, const Fit& fit, FitScratch& scratch);

// Number of sums that a row adds to the normal equations. They are the products of {gx X, gx, gy X, gy, level, 1} with
// each other and with the residual.
inline constexpr std::size_t kRowSums = 27;
struct FitRowInput {
  const float *first, *above, *warped, *below;  // rows of the warped second, and of the first
  int begin, end, width;
  float gain, bias, narrow;  // narrow: one over the square of the residuals' scale
};
void fit_row(const FitRowInput& row, float (&sums)[kRowSums]);

// Change of tone: one monotone curve for all channels, and one change of saturation before it.
struct Tone {
  // docs/design/detailed-check.md gives the reasons for the constants of this file.
  static constexpr int kKnots = 17;
  std::array<float, kKnots> knots{};  // curve at levels 0, 255/16, ...
  float saturation = 1;

  // True if no level changes by one, and the saturation stays.
  bool is_near_identity() const;
  float at(float level) const {
    const float place = (level < 0 ? 0 : (level > 255 ? 255 : level)) * (16.0F / 255.0F);
    const int j = place >= 15 ? 15 : static_cast<int>(place);
    const float part = place - static_cast<float>(j);
    return knots[static_cast<std::size_t>(j)] +
           part * (knots[static_cast<std::size_t>(j) + 1] - knots[static_cast<std::size_t>(j)]);
  }
};
// Fits the tone between two blurred pictures; `valid` is 1 where both are seen.
Tone fit_tone(const Colour& source, const Colour& target, const Plane& valid);
void apply_tone(const Tone& tone, const Colour& from, Colour& to);

// True if much of the picture is plain: lines, letters, areas of one colour.
bool is_drawing(const Colour& picture);

// Sums of each column over rows of two pictures.
struct Moments {
  float *squares, *first, *first_squares, *second, *second_squares;  // squared differences; values and squares of each
};
void add_moments(const float* a, const float* b, int count, const Moments& to);

// Fit of one picture's luma from blurred versions of the other's; the residual is that of the direction that fits
// better.
struct Sharpness {
  Plane fitted, other, residual;  // the residual is 0 where not valid
  std::array<double, 5> weights{};
  bool forwards = true;  // true if the first was filtered, false if the second was
  double deviation() const;
};
struct SharpScratch {
  std::array<Plane, 3> soft_first, soft_second;
  Plane guess;
  std::vector<std::uint32_t> histogram;
};
void fit_sharpness(const Plane& first, const Plane& second, const Plane& valid, SharpScratch& scratch, Sharpness& out);
// Writes the residual of both as they are, without a filter.
void subtract_without_filter(const Plane& first, const Plane& second, const Plane& valid, Sharpness& out);

}  // namespace millrace::detailed_check
