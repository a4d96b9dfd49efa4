// Input: frames of a video, and the masks that a network made for them.
// Output: frames of the new video.
// Never: changes a sample that the mask leaves unchanged, unless the encoder needs another sample format.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/io/video/colors.h"
#include "src/jobs/video/options.h"
#include "src/kernels/masks/masks.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

// Returns the format of the new video's frames before they are converted for the encoder.
video_file::FrameShape make_shown_shape(ShownContent show, video_file::FrameShape shape);

struct Composition {
  ShownContent show = ShownContent::film;
  video_file::FrameShape film;   // format of the input frames; all color properties are known
  video_file::FrameShape shown;  // format given by make_shown_shape()
  video_file::FrameShape made;   // format that the encoder accepts
  std::int32_t mask_width = 1, mask_height = 1;
  std::array<std::uint8_t, 3> tint{};  // color of an overlay
  std::string background;              // as in VideoOptions
  int rotation = 0;                    // of the input video
};

class Compositor {
 public:
  // Reads the background if it is an image, and throws a Failure if it cannot be read.
  Compositor(const Composition& how, RunContext& context);

  struct Workspace {
    std::optional<masks::Enlarger> enlarger;
    std::vector<std::uint16_t> rows, chroma;
    Buffer<std::uint8_t> converting, shown, small, blurred;
  };
  // Composes one frame. Can be called on any thread. `mask` is not used if the video itself is shown.
  void compose(const std::uint8_t* picture, const std::uint16_t* mask, std::uint8_t* out, Workspace& workspace) const;

 private:
  // First row and stride in bytes of each plane; a stride of 0 repeats one row.
  struct Planes {
    std::array<const std::uint8_t*, 4> data{};
    std::array<std::size_t, 4> stride{};
  };
  static Planes planes_of(const std::uint8_t* picture, const video_file::FrameLayout& layout);
  // Returns planes of a single 8-bit color; `rows` holds their samples.
  Planes make_flat_planes(const std::array<std::uint8_t, 3>& color, std::vector<std::vector<std::uint8_t>>& rows) const;
  Planes make_level_planes(std::uint32_t value, std::vector<std::vector<std::uint8_t>>& rows) const;
  Planes blurred(const std::uint8_t* picture, Workspace& workspace) const;

  // Blends `front` over `back` into the color planes of a frame of shown_, at columns from `left` on. With Show::alpha
  // it writes only the alpha plane, which is the mask itself.
  template <typename T>
  void blend_into(const Planes& back, const Planes& front, const std::uint16_t* mask, int halvings, std::int32_t left,
                  std::uint8_t* out, Workspace& workspace) const;
  void copy_input(const std::uint8_t* picture, bool alpha, std::uint8_t* out) const;
  template <typename T>
  void compose_as(const std::uint8_t* picture, const std::uint16_t* mask, std::uint8_t* out,
                  Workspace& workspace) const;
  void write_mask(const std::uint16_t* mask, std::uint8_t* out, Workspace& workspace) const;
  void convert(const std::uint8_t* shown, std::uint8_t* out, Workspace& workspace) const;

  const Composition how_;
  const video_file::FrameLayout video_, shown_, made_;
  std::vector<std::vector<std::uint8_t>> black_rows_, white_rows_, color_rows_;
  Planes black_, white_, color_;  // `color_` is the tint, or the background's color or image
  Buffer<std::uint8_t> background_;
  std::optional<video_file::Converter> to_made_, to_small_, to_large_;
  video_file::FrameShape small_;
};

}  // namespace millrace::video
