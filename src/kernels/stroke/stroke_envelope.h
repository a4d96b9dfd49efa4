// Input: a line whose points do not go left, the radius of its stroke, and a side.
// Output: the envelope of the stroke on that side, as an outline or as its y at an x.
// Never: used from outside this folder.
//
// Only the upper side is computed; for the lower one, y is negated. A piece is a range of x in which one segment's
// capsule is outermost. Of two capsules, the later segment's is the outer one right of the single x at which their
// edges cross. The reason: the slope of a disc's edge, -sqrt(r^2 - u^2), grows with the distance to the right of its
// centre. So the difference of two discs' edges is monotone. The same holds for the envelopes of sets of discs whose
// centres follow each other.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "src/kernels/stroke/stroke.h"
#include "src/kernels/stroke/stroke_tile.h"

namespace millrace::stroke {

// Lines of corners from left to right, which outline a side of a stroke.
struct StrokeOutline {
  std::vector<Corner> corners;
  std::vector<std::size_t> begins;  // begin of each line, as an index in `corners`
  void clear() {
    corners.clear();
    begins.assign(1, 0);
  }
  std::span<const Corner> line(std::size_t i) const {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : corners.size();
    return {corners.data() + begins[i], end - begins[i]};
  }
};

// Largest turn of a chord, as a cosine: of a chord among others, and of a single one.
struct ChordTurns {
  explicit ChordTurns(double radius);
  double coarsest, alone;
  // Returns how often half a circle must be halved until its parts turn less than `coarsest`.
  int max_halvings() const;
};

class Envelope {
 public:
  // Builds the upper side, or the lower side of the same stroke.
  void build(std::span<const StrokePoint> points, double radius);
  void build_opposite(const Envelope& other);
  // The range of x, from begin to end, in which a leg's straight side is outermost; empty unless begin < end. The flags
  // tell whether the envelope continues in the leg's vertical direction. One holds from the border of the pixel before
  // begin on, the other up to that of the pixel after end.
  struct Straight {
    double begin, end;
    bool goes_on_before, goes_on_behind;
  };
  const Straight& straight(std::size_t leg) const { return straights_[leg]; }
  // A part of a leg's straight side that is drawn separately: from (x0, y0) to (x1, y1); none if y0 equals y1.
  struct Gap {
    double x0, y0, x1, y1;
  };
  // Writes the corners from left to right, leaving out one gap per leg.
  void draw(std::span<const Gap> gaps, StrokeOutline& out) const;
  // Returns y of the envelope, in the image's own direction; x must be within [left(), right()].
  double at(double x) const;
  double left() const { return left_; }
  double right() const { return right_; }

 private:
  struct Leg {
    double x0, y0, x1, y1;
    double nx, ny;  // outward unit normal: ny <= 0
    double slope;   // slope of the leg; unused if it is vertical
  };
  struct Piece {
    double begin;
    std::size_t leg;
  };
  class Tracer;

  void find_pieces();
  void find_straights();
  double outer(const Leg& leg, double x) const;
  double crossing(std::size_t previous, std::size_t later, double from) const;

  double radius_ = 0, left_ = 0, right_ = 0;
  int side_ = 1;
  std::vector<Leg> legs_;
  std::vector<Piece> pieces_;
  std::vector<Straight> straights_;
};

}  // namespace millrace::stroke
