// Input: frames of a video, and the network's answers.
// Output: the network's input for a frame: a region, upright, with the network's own size and the colors it was trained
//   on. Its answer becomes a mask in the orientation in which frames are stored.
// Never: runs the network.
#pragma once

#include <cstdint>
#include <optional>

#include "src/io/video/colors.h"
#include "src/model/picture_model.h"

namespace millrace::video {

class ModelView {
 public:
  struct Workspace {
    video_file::RgbConverter::Workspace converting;
    Buffer<std::uint8_t> planes, coarse, upright;
    std::vector<std::uint16_t> mask;
  };

  // Creates a view of a region of frames in this format, whose color properties are all known. `rotation` is the
  // clockwise rotation in degrees that makes them upright. `resolution` below 1 is the share of the network's own
  // resolution that is used. The model must outlive the view.
  ModelView(const video_file::FrameShape& shape, const video_file::FrameRegion& region, int rotation, double resolution,
            const model::PictureModel& model);

  // Computes the network's input. `seen`, if not null, gets the same as 8-bit samples: three planes, upright. Can be
  // called on any thread.
  void input(const std::uint8_t* picture, float* input, std::uint8_t* seen, Workspace& workspace) const;
  // Converts the network's output, [channels, height, width], to a mask of mask_width() x mask_height(); changes
  // `output`. A value is the share of the pixel that shows what the network looks for: its only class, or all classes
  // but the first.
  void mask(std::span<float> output, std::uint16_t* mask, Workspace& workspace) const;
  std::int32_t mask_width() const { return width_; }
  std::int32_t mask_height() const { return height_; }
  std::size_t seen_bytes() const { return 3 * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_); }

 private:
  // Converts the frame to planes in the layout layout_of(seen_).
  void planes_of(const std::uint8_t* picture, Workspace& workspace) const;

  const model::PictureModel* model_;
  int rotation_;
  std::int32_t width_, height_;  // of the network's input, in the orientation in which frames are stored
  video_file::FrameShape seen_;
  video_file::RgbConverter coarse_;  // first conversion of the frame
  std::optional<video_file::Converter> enlarged_;
};

}  // namespace millrace::video
