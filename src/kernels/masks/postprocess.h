// Input: a mask of a picture's own size.
// Output: the mask without small specks, with holes filled, its edge opened, closed and softened.
// Never: changes how soft an edge is where no pixel changes sides, unless `hard`, `guide` or `feather` is set.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/masks/guided_filter.h"
#include "src/kernels/masks/masks.h"

namespace millrace::masks {

// Steps of postprocessing, in pixels of the mask; 0 leaves a step out. Their order: area, holes, open, close, hard,
// guide, feather.
struct Postprocess {
  std::int64_t area = 0;   // areas (8-connected) of fewer pixels are removed
  std::int64_t holes = 0;  // holes (4-connected) of fewer pixels are filled; -1: all that touch no side
  int open = 0;            // diameter of a disc: parts of the mask that it does not fit into are removed
  int close = 0;           // same for the background
  double feather = 0;      // standard deviation of an approximate Gaussian, over the edge

  int guide = 0;  // radius in which the edge is moved to the picture's own

  bool hard = false;  // inside becomes kOne, and outside 0

  bool any() const { return area > 0 || holes != 0 || open > 1 || close > 1 || feather > 0 || guide > 0 || hard; }
};

struct PostprocessWorkspace {
  std::vector<std::uint8_t> inside, first, second;
  std::vector<std::uint16_t> columns, row;
  std::vector<std::uint16_t> mask;  // buffer for the caller
  GuideWorkspace guiding;
  struct Run {
    std::int32_t y, begin, end;
    std::uint32_t parent;
  };
  std::vector<Run> runs;
  std::vector<std::int64_t> areas;
  std::vector<std::uint8_t> touches;
};

// Postprocesses a mask. Pixels at `threshold` or above are inside. Pixels that are inside no more become 0, and pixels
// that become inside get kOne.
void postprocess(std::uint16_t* mask, std::int32_t width, std::int32_t height, std::uint16_t threshold,
                 const Postprocess& how, const GuideImage& picture, PostprocessWorkspace& workspace);

// Steps of postprocess(), on a plane of 0 and 1.
void remove_specks(std::uint8_t* inside, std::int32_t width, std::int32_t height, std::int64_t area,
                   PostprocessWorkspace& workspace);
void fill_holes(std::uint8_t* inside, std::int32_t width, std::int32_t height, std::int64_t area,
                PostprocessWorkspace& workspace);
// Writes 1 where a 1 is in the disc; pixels outside the plane are 0.
void dilate(const std::uint8_t* from, std::uint8_t* to, std::int32_t width, std::int32_t height, int diameter,
            PostprocessWorkspace& workspace);
// Applies three means of boxes (Wells 1986), each rounded half up; pixels outside repeat the nearest one.
void soften(std::uint16_t* mask, std::int32_t width, std::int32_t height, double deviation,
            PostprocessWorkspace& workspace);

}  // namespace millrace::masks
