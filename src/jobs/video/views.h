// Input: what a person says of where and how closely a network looks, and what it answers.
// Output: the parts of a picture that it sees, one input each; and one mask of all of the picture.
// Never: runs the network.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/video/model_view.h"
#include "src/jobs/video/options.h"

namespace millrace::video {

class Views {
 public:
  // A whole picture in one view, or as the options say: an eye at a time, at several scales, regions alone.
  Views(const Options& options, const film::Shape& shape, int rotation, const model::PictureModel& model);
  // One region of it; the mask is of all of the picture, of these sides, and nothing outside of the region.
  Views(const film::Region& region, const film::Shape& shape, int rotation, const model::PictureModel& model,
        std::int32_t mask_width, std::int32_t mask_height);

  std::size_t count() const { return views_.size(); }
  const ModelView& operator[](std::size_t k) const { return views_[k].view; }
  std::int32_t mask_width() const { return width_; }
  std::int32_t mask_height() const { return height_; }

  struct Workspace {
    ModelView::Workspace view;
    std::vector<std::uint16_t> part, row;
    std::vector<std::uint32_t> sums, weights, all, groups;
  };
  // The answers to all views, one behind the other, each `elements` long; they are changed.
  void mask(std::span<float> outputs, std::uint16_t* mask, Workspace& workspace) const;

 private:
  struct View {
    ModelView view;
    std::size_t group;                      // views of one group lie beside each other; groups are averaged
    std::int32_t left, top, width, height;  // of its mask in the whole one
  };
  void add(const film::Region& region, double resolution, std::size_t group, const film::Shape& shape, int rotation,
           const model::PictureModel& model);
  void agree(std::uint16_t* mask) const;

  Stereo stereo_ = Stereo::none;
  Eyes eyes_ = Eyes::average;
  std::int32_t width_ = 0, height_ = 0;
  std::size_t groups_ = 1;
  std::vector<View> views_;
};

// The region of a picture that holds what a mask has found, with some room around it, no smaller than the network's
// own size, as the film lies, where the picture has that; empty where it has found nothing. Its sides are multiples of
// 16 pixels.
film::Region region_of(const std::uint16_t* mask, std::int32_t width, std::int32_t height, std::uint16_t threshold,
                       const film::Shape& shape, std::int32_t own_width, std::int32_t own_height);

}  // namespace millrace::video
