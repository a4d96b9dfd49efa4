// Input: two registered pictures.
// Output: the plain frame of each, the share of each that the other does not show, and the pixels that can be compared.
// Never: used from outside this folder.
#pragma once

#include <cstdint>
#include <utility>

#include "src/kernels/detailed_check/detailed_check_steps.h"

namespace millrace::detailed_check {

inline PixelBox whole(const Size& size) { return {0, 0, size.width, size.height}; }

// Frames of two pictures, where they are not one and the same.
struct FramePair {
  PixelBox target, source;
  bool drawn_target = false, drawn_source = false;  // true if the frame is of one colour, as no camera makes it
  bool any = false;
  // True if somebody put a frame around this picture, and the other has none.
  bool put_around_target = false, put_around_source = false;

  FramePair() = default;  // no frames
  FramePair(const Colour& t, const Colour& s, const Affine& warp);
  FramePair halved() const {
    FramePair out = *this;
    for (PixelBox* box : {&out.target, &out.source})
      *box = {box->left / 2, box->top / 2, (box->right + 1) / 2, (box->bottom + 1) / 2};
    return out;
  }
  // Returns the frames with target and source exchanged.
  FramePair swapped() const {
    FramePair out = *this;
    std::swap(out.target, out.source);
    std::swap(out.drawn_target, out.drawn_source);
    std::swap(out.put_around_target, out.put_around_source);
    return out;
  }
  bool is_plain_in_target(int x, int y) const {
    return drawn_target && (x < target.left || x >= target.right || y < target.top || y >= target.bottom);
  }
  bool is_plain_in_source(int x, int y) const {
    return drawn_source && (x < source.left || x >= source.right || y < source.top || y >= source.bottom);
  }
  // Area of the target that neither frame covers, in a raster of size `as`; `of` is the size that the frames were found
  // at.
  PixelBox shared(const Affine& warp, const Size& of, const Size& as) const;
  bool in_target(int x, int y) const {
    return any && (x < target.left || x >= target.right || y < target.top || y >= target.bottom);
  }
  bool in_source(double u, double v) const {
    return any &&
           (u < source.left - 0.5 || u >= source.right - 0.5 || v < source.top - 0.5 || v >= source.bottom - 0.5);
  }
};

// Strokes on the plain ground of the target where nothing was compared: the source shows nothing there, or has a frame
// too. `frame`: the ground is plain all around the other picture. `picture`: strokes lie at the edge of the other
// picture, so a picture continues there. They are searched for in the rasters themselves: at 512 pixels a line of a
// caption is gone. `warp` maps `target` to `source`; `of` and `of_source` are the sizes that the frames were found at.
enum class OverlayLocation : std::uint8_t { nothing, frame, picture };
OverlayLocation find_overlay_on_target(const FramePair& frames, const Size& of, const Size& of_source,
                                       const PictureRaster& target, const PictureRaster& source, const Affine& warp);

// Sets `valid` to 1 where both are seen and not both are frame; returns the number of such pixels.
std::int64_t mark_valid(const Affine& warp, const FramePair& frames, const Plane& source, Plane& valid);
// Removes pixels near the edges of the valid area, and the target's outermost pixels; returns the number of the others.
std::int64_t erode(const Plane& from, Plane& scratch, Plane& to);

// Returns the share of `of` that lies outside `other` and is no frame.
template <class InFrame>
double share_outside(const Affine& warp, const Plane& of, const Plane& other, const InFrame& in_frame) {
  std::int64_t count = 0;
  for (int y = 0; y < of.height(); ++y) {
    const PixelSpan in = inside_row(warp, y, of.width(), other.width(), other.height(), 0.5);
    for (int x = 0; x < of.width(); ++x) {
      if ((x < in.begin || x >= in.end) && !in_frame(x, y)) ++count;
    }
  }
  return static_cast<double>(count) / (static_cast<double>(of.width()) * of.height());
}

}  // namespace millrace::detailed_check
