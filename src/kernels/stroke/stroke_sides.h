// Input: a line whose points do not go left, and the radius of its stroke.
// Output: the stroke's two sides, and the edges and slants that enclose it.
// Never: used from outside this folder.
#pragma once

#include <span>
#include <vector>

#include "src/kernels/stroke/stroke_cells.h"
#include "src/kernels/stroke/stroke_envelope.h"

namespace millrace::stroke {

class Sides {
 public:
  void build(std::span<const StrokePoint> points, double radius);
  void draw(Cells& cells);
  // Return the interval of y in the stroke at an x within [left(), right()].
  double upper(double x) const { return upper_.at(x); }
  double lower(double x) const { return lower_.at(x); }
  double left() const { return upper_.left(); }
  double right() const { return upper_.right(); }

 private:
  void find_slants(const Cells& cells);
  void draw_line(std::size_t i, Cells& cells) const;

  Envelope upper_, lower_;
  std::vector<StrokePoint> points_;
  double radius_ = 0;
  std::vector<StrokeParts::Slant> slants_;
  std::vector<Envelope::Gap> upper_gaps_, lower_gaps_;  // per leg
  StrokeOutline upper_lines_, lower_lines_;             // outlines before, between and after the slants
};

}  // namespace millrace::stroke
