// Input: a mask of a picture's own size.
// Output: the same without what is too small to be meant, with holes filled, its edge opened, closed and softened.
// Never: changes how soft an edge is where it does not change what lies inside.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/matte/guide.h"
#include "src/kernels/matte/matte.h"

namespace millrace::matte {

// In pixels of the mask; 0: not at all. In this order.
struct Cleaning {
  std::int64_t area = 0;   // areas (8-connected) of fewer pixels go
  std::int64_t holes = 0;  // holes (4-connected) of fewer pixels are filled; -1: all that touch no side
  int open = 0;            // the diameter of a disc that fits wherever the mask is: thinner parts go
  int close = 0;           // the same of what is not the mask
  double feather = 0;      // the deviation of what is as good as a Gaussian, over the edge

  int guide = 0;  // the radius in which its edge is moved to the picture's own, before it is softened

  bool hard = false;  // what is inside becomes all of it, what is not nothing, before its edge is moved or softened

  bool any() const { return area > 0 || holes != 0 || open > 1 || close > 1 || feather > 0 || guide > 0 || hard; }
};

struct CleaningWorkspace {
  std::vector<std::uint8_t> inside, first, second;
  std::vector<std::uint16_t> columns, row;
  std::vector<std::uint16_t> mask;  // room for whoever calls
  GuideWorkspace guiding;
  struct Run {
    std::int32_t y, begin, end;
    std::uint32_t parent;
  };
  std::vector<Run> runs;
  std::vector<std::int64_t> areas;
  std::vector<std::uint8_t> touches;
};

// Inside is what is at `threshold` or above. What was inside and is so no more becomes nothing; what was not, and is,
// all of it.
void clean(std::uint16_t* mask, std::int32_t width, std::int32_t height, std::uint16_t threshold, const Cleaning& how,
           const Guide& picture, CleaningWorkspace& workspace);

// The pieces of it, on a plane of 0 and 1.
void drop_small(std::uint8_t* inside, std::int32_t width, std::int32_t height, std::int64_t area,
                CleaningWorkspace& workspace);
void fill_holes(std::uint8_t* inside, std::int32_t width, std::int32_t height, std::int64_t area,
                CleaningWorkspace& workspace);
// 1 where a 1 is in the disc; what lies outside is 0.
void dilate(const std::uint8_t* from, std::uint8_t* to, std::int32_t width, std::int32_t height, int diameter,
            CleaningWorkspace& workspace);
// Three means of boxes (Wells 1986), each rounded half up; the sides are as their nearest pixel.
void soften(std::uint16_t* mask, std::int32_t width, std::int32_t height, double deviation,
            CleaningWorkspace& workspace);

}  // namespace millrace::matte
