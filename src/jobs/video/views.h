// Input: the options for where and how closely a network looks, and its answers.
// Output: the views of a frame that it gets, one input each; and one mask for the whole frame.
// Never: runs the network.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/video/model_view.h"
#include "src/jobs/video/options.h"

namespace millrace::video {

class Views {
 public:
  // Creates one view of the whole frame, or views according to the options: each eye, several scales, or regions.
  Views(const VideoOptions& options, const video_file::FrameShape& shape, int rotation,
        const model::PictureModel& model);
  // Creates one view of a region. The mask covers the whole frame, has these sides, and is 0 outside of the region.
  Views(const video_file::FrameRegion& region, const video_file::FrameShape& shape, int rotation,
        const model::PictureModel& model, std::int32_t mask_width, std::int32_t mask_height);

  std::size_t count() const { return views_.size(); }
  const ModelView& operator[](std::size_t k) const { return views_[k].view; }
  std::int32_t mask_width() const { return width_; }
  std::int32_t mask_height() const { return height_; }

  struct Workspace {
    ModelView::Workspace view;
    std::vector<std::uint16_t> part, row;
    std::vector<std::uint32_t> sums, weights, all, groups;
  };
  // Combines the network's outputs for all views into one mask. The outputs follow one another and have equal lengths;
  // they are changed.
  void mask(std::span<float> outputs, std::uint16_t* mask, Workspace& workspace) const;

 private:
  struct View {
    ModelView view;
    std::size_t group;                      // views of one group lie side by side; groups are averaged
    std::int32_t left, top, width, height;  // of its mask within the whole mask
  };
  void add(const video_file::FrameRegion& region, double resolution, std::size_t group,
           const video_file::FrameShape& shape, int rotation, const model::PictureModel& model);
  void merge_stereo(std::uint16_t* mask) const;

  Stereo stereo_ = Stereo::none;
  StereoMerge stereo_merge_ = StereoMerge::average;
  std::int32_t width_ = 0, height_ = 0;
  std::size_t groups_ = 1;
  std::vector<View> views_;
};

// Returns the region of a frame that contains what the mask has found, with some margin; empty if it has found nothing.
// The region is not smaller than the network's input in this orientation, if the frame is that large. Its sides are
// multiples of 16 pixels.
video_file::FrameRegion find_mask_region(const std::uint16_t* mask, std::int32_t width, std::int32_t height,
                                         std::uint16_t threshold, const video_file::FrameShape& shape,
                                         std::int32_t own_width, std::int32_t own_height);

}  // namespace millrace::video
