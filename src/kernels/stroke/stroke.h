// Input: lines through points, and a width.
// Output: the exact coverage of each pixel by the stroke, with round joins and caps; overlaps are counted once.
// Never: depends on the batch, the thread or the processor: edges are cut in integers.
//
// Coordinates are in pixels, y downwards; the centre of the upper left pixel is (0, 0), so that it spans -0.5 to 0.5.
// The stroke is the set of points within width / 2 of a line: the union of one capsule per segment (leg). Coverage is
// the area of that union in a pixel, as a level of 0 to 255.
//
// Method. If a line's points go to the right (a series), every vertical line meets its stroke in one interval. It lies
// between the upper and the lower envelope of the capsules. The upper edges of two capsules cross at most once, and
// right of the crossing the later one is the upper one. So an envelope is built with a stack of capsules. The region
// between the two envelopes has no overlap, and the area under an edge can be summed pixel by pixel. Most rows of a
// steep chart touch only one steep leg; they follow from the positions of its two sides. The region between two such
// legs, usually a joint, is summed in a small tile. A larger region is summed in cells as wide as the image. A line
// that turns back is cut into lines that do not. Pixels in which several of these have an edge are measured separately,
// in 512 columns each.
//
// Exactness. 420 random lines of widths 1 to 12 were compared with 512 columns of each pixel. They were walks, noise,
// lines that turn back, and 200 points on 60 pixels. No pixel was off by more than 0.93 levels, of which 0.25 may be
// the error of the reference and 0.5 is rounding. Circles are chords of equal area, contested pixels are off by 1/1024
// for each edge, vertices are rounded to 1/65536. Areas are rounded to 1/2^24 in cells and to about 1/2^19 in tiles and
// slants. The bits are the same on every machine: IEEE 754 in one order (-ffp-contract=off), and no library function
// but sqrt.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "src/kernels/rle/rle.h"
#include "src/memory/workspace.h"

namespace millrace::stroke {

struct StrokePoint {
  double x = 0, y = 0;
};

// Draws strokes in images of one size; reuses its memory from one image to the next. Used by one thread at a time.
class Rasterizer {
 public:
  // Sides are 1 to rle::kMaxSide pixels; the width is above 0 and at most kWidest pixels.
  Rasterizer(int width, int height, double line_width);
  ~Rasterizer();
  Rasterizer(const Rasterizer&) = delete;
  Rasterizer& operator=(const Rasterizer&) = delete;

  // Allowed range of coordinates: an edge must fit 32 bits in units of 1/65536 pixel.
  // docs/design/strokes.md gives the reasons for the constants of this file.
  static constexpr double kLowest = -7000, kHighest = 23500, kWidest = 1024;
  // Adds a line to the image. A single point is drawn as a dot, no point draws nothing. Throws Failure(too_large) for a
  // point outside kLowest to kHighest.
  void line(std::span<const StrokePoint> points);
  // Writes the image of all lines since the last call.
  void finish(rle::Image& out);

  // Returns the memory that a rasterizer of this size holds.
  static Workspace workspace(int width, int height);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Computes the definition: the share of samples x samples points of each pixel that lie within width / 2 of a line.
// Slow on purpose. Its error: an edge that grazes a row of samples may be off by 1 / samples of the pixel.
std::vector<double> coverage_reference(std::span<const std::vector<StrokePoint>> lines, double line_width, int width,
                                       int height, int samples);
// Computes the coverage from `columns` vertical lines through each pixel, along which the stroke's union is measured
// exactly. Its error: half a column at a vertical edge.
std::vector<double> column_reference(std::span<const std::vector<StrokePoint>> lines, double line_width, int width,
                                     int height, int columns);

}  // namespace millrace::stroke
