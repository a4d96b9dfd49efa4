// Input: a line whose points do not go left, the radius of its stroke, and a side.
// Output: the envelope of the stroke on that side, as an outline or as its y at an x.
// Never: used from outside this folder.
//
// One side is computed; for the lower one, y is turned over. A piece is where one segment's capsule is the outermost.
// Of two capsules the later segment's is the outer one right of the single x at which their edges cross: the edge of a
// disc, -sqrt(r^2 - u^2), rises the faster the further right of its centre, so that the difference of two discs'
// edges is monotone, and the argument carries over to the envelopes of sets of discs whose centres follow each other.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "src/kernels/stroke/stroke.h"
#include "src/kernels/stroke/stroke_tile.h"

namespace millrace::stroke {

// One side of a stroke: lines of corners from left to right.
struct Outline {
  std::vector<Corner> corners;
  std::vector<std::size_t> begins;  // of each line, in `corners`
  void clear() {
    corners.clear();
    begins.assign(1, 0);
  }
  std::span<const Corner> line(std::size_t i) const {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : corners.size();
    return {corners.data() + begins[i], end - begins[i]};
  }
};

// How far a chord turns, as cosines: the most among others, and where it is alone.
struct ChordTurns {
  explicit ChordTurns(double radius);
  double coarsest, alone;
  // Times that half a circle is halved until its parts turn less.
  int most_halvings() const;
};

class Envelope {
 public:
  // The upper side; the lower one of the same stroke.
  void build(std::span<const Point> points, double radius);
  void build_opposite(const Envelope& other);
  // Where a leg's straight side is the outermost: from begin to end, if begin is less. Where the envelope goes on up or
  // down as the leg does, from the border of the pixel before begin on, or to that of the pixel behind end.
  struct Straight {
    double begin, end;
    bool goes_on_before, goes_on_behind;
  };
  const Straight& straight(std::size_t leg) const { return straights_[leg]; }
  // A part of a leg's straight side that is drawn by others: from (x0, y0) to (x1, y1), or nothing if y0 is y1.
  struct Gap {
    double x0, y0, x1, y1;
  };
  // Its corners from left to right, with a gap a leg.
  void draw(std::span<const Gap> gaps, Outline& out) const;
  // y of the envelope, in the picture's own direction; x within [left(), right()].
  double at(double x) const;
  double left() const { return left_; }
  double right() const { return right_; }

 private:
  struct Leg {
    double x0, y0, x1, y1;
    double nx, ny;  // unit normal to the outside: ny <= 0
    double slope;   // of the leg; unused where it is vertical
  };
  struct Piece {
    double begin;
    std::size_t leg;
  };
  class Tracer;

  void find_pieces();
  void find_straights();
  double outer(const Leg& leg, double x) const;
  double crossing(std::size_t earlier, std::size_t later, double from) const;

  double radius_ = 0, left_ = 0, right_ = 0;
  int side_ = 1;
  std::vector<Leg> legs_;
  std::vector<Piece> pieces_;
  std::vector<Straight> straights_;
};

}  // namespace millrace::stroke
