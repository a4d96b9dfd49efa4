// Enters: pictures of a film, and what a network makes of them.
// Leaves: what the network sees: upright, at its own size, in the colours it was trained on; and its answer as a mask
//   that lies as the film is stored.
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
    Buffer<std::uint8_t> converting, planes, upright;
  };

  // Of pictures of this shape, whose colours all have names; `rotation` is how they are turned, to the right, to stand
  // upright. The model must live as long.
  ModelView(const film::Shape& shape, int rotation, const model::PictureModel& model);

  // Any thread.
  void input(const std::uint8_t* picture, float* input, Workspace& workspace) const;
  // `output` is [channels, height, width] and is changed. The mask is mask_width() x mask_height(): how much of each
  // pixel is what the network looks for: its one class, or all but the first.
  void mask(std::span<float> output, std::uint16_t* mask) const;
  std::int32_t mask_width() const { return width_; }
  std::int32_t mask_height() const { return height_; }

 private:
  const model::PictureModel& model_;
  const int rotation_;
  std::int32_t width_, height_;  // of the network's picture, lying as the film is stored
  bool linear_;
  film::Shape seen_;
  std::optional<film::Converter> converter_;
};

}  // namespace millrace::video
