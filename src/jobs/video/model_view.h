// Input: pictures of a film, and what a network makes of them.
// Output: what the network sees of one: a part of it, upright, at its own size, in the colours it was trained on; and
// its
//   answer as a mask that lies as the film is stored.
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
    film::RgbView::Workspace converting;
    Buffer<std::uint8_t> planes, coarse, upright;
    std::vector<std::uint16_t> mask;
  };

  // Of pictures of this shape, whose colours all have names: this region of them. `rotation` is how they are turned, to
  // the right, to stand upright. `resolution` is a share of the network's own that it is given, below 1 less than it
  // could see. The model must live as long.
  ModelView(const film::Shape& shape, const film::Region& region, int rotation, double resolution,
            const model::PictureModel& model);

  // Any thread. `seen`, where it is not null, gets the same in 8 bits: three planes, upright.
  void input(const std::uint8_t* picture, float* input, std::uint8_t* seen, Workspace& workspace) const;
  // `output` is [channels, height, width] and is changed. The mask is mask_width() x mask_height(): how much of each
  // pixel is what the network looks for: its one class, or all but the first.
  void mask(std::span<float> output, std::uint16_t* mask, Workspace& workspace) const;
  std::int32_t mask_width() const { return width_; }
  std::int32_t mask_height() const { return height_; }
  std::size_t seen_bytes() const { return 3 * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_); }

 private:
  // As layout_of(seen_) has them.
  void planes_of(const std::uint8_t* picture, Workspace& workspace) const;

  const model::PictureModel* model_;
  int rotation_;
  std::int32_t width_, height_;  // of the network's picture, lying as the film is stored
  film::Shape seen_;
  film::RgbView coarse_;  // what the film is made first
  std::optional<film::Converter> enlarged_;
};

}  // namespace millrace::video
