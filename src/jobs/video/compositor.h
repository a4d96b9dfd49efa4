// Input: pictures of a film, and masks of what a model found in them.
// Output: pictures of the new film.
// Never: changes a sample of the film that a mask leaves alone, but where an encoder needs other samples.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/io/video/colors.h"
#include "src/jobs/video/options.h"
#include "src/kernels/matte/matte.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

// What the new film's pictures are like before an encoder has its say.
film::Shape shown_shape(Show show, film::Shape shape);

struct Composition {
  Show show = Show::film;
  film::Shape film;   // with all colours named
  film::Shape shown;  // shown_shape()
  film::Shape made;   // what the encoder takes
  std::int32_t mask_width = 1, mask_height = 1;
  std::array<std::uint8_t, 3> tint{};  // of an overlay
  std::string background;              // as Options has it
  int rotation = 0;                    // of the film
};

class Compositor {
 public:
  // Reads the background, where it is a picture. Failure as reading pictures throws it.
  Compositor(const Composition& how, RunContext& context);

  struct Workspace {
    std::optional<matte::Enlarger> enlarger;
    std::vector<std::uint16_t> rows, chroma;
    Buffer<std::uint8_t> converting, shown, small, blurred;
  };
  // Any thread. `mask` is not looked at where the film itself is shown.
  void compose(const std::uint8_t* picture, const std::uint16_t* mask, std::uint8_t* out, Workspace& workspace) const;

 private:
  // Rows of each plane; a stride of 0: all of them are alike.
  struct Planes {
    std::array<const std::uint8_t*, 4> data{};
    std::array<std::size_t, 4> stride{};
  };
  static Planes planes_of(const std::uint8_t* picture, const film::Layout& layout);
  // Of a colour of 8 bits; `rows` hold it.
  Planes flat(const std::array<std::uint8_t, 3>& color, std::vector<std::vector<std::uint8_t>>& rows) const;
  Planes level(std::uint32_t value, std::vector<std::vector<std::uint8_t>>& rows) const;
  Planes blurred(const std::uint8_t* picture, Workspace& workspace) const;

  // Of the color planes, into columns from `left` on of a picture of shown_; and the mask itself as alpha, where there
  // is one.
  template <typename T>
  void blend_into(const Planes& back, const Planes& front, const std::uint16_t* mask, int halvings, std::int32_t left,
                  std::uint8_t* out, Workspace& workspace) const;
  void copy_film(const std::uint8_t* picture, bool alpha, std::uint8_t* out) const;
  template <typename T>
  void compose_as(const std::uint8_t* picture, const std::uint16_t* mask, std::uint8_t* out,
                  Workspace& workspace) const;
  void write_mask(const std::uint16_t* mask, std::uint8_t* out, Workspace& workspace) const;
  void convert(const std::uint8_t* shown, std::uint8_t* out, Workspace& workspace) const;

  const Composition how_;
  const film::Layout film_, shown_, made_;
  std::vector<std::vector<std::uint8_t>> black_rows_, white_rows_, color_rows_;
  Planes black_, white_, color_;  // of the tint, or of a background of one colour
  Buffer<std::uint8_t> background_;
  std::optional<film::Converter> to_made_, to_small_, to_large_;
  film::Shape small_;
};

}  // namespace millrace::video
