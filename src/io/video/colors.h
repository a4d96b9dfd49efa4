// Input: a frame of a video, and the size, samples and colours that a caller wants.
// Output: the frame so converted, by zimg; with the colours that the video states, and a rule where it states none.
// Never: assumes colours without reporting it; shifts chroma; confuses matrices.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/io/video/frame.h"
#include "src/memory/buffer.h"

namespace millrace::video_file {

// Fills in the colours that a video does not state, by rule. From a width of 1280 or a height of 720 pixels on they are
// those of BT.709. Below they are those of BT.601, in its 625-line variant for 576 or 288 lines. YUV has limited range,
// RGB and gray full range, and chroma is on the left. `assumed` gets what was filled in: "BT.709 matrix".
Colors filled_in(const FrameShape& shape, std::vector<std::string>& assumed);
// Describes colours for plans: "BT.709 matrix, limited range, ...".
std::string words_of(const Colors& colors);
// True for transfers that represent more than SDR's white: PQ (SMPTE ST 2084) and HLG (ARIB STD-B67).
bool is_hdr(const Colors& colors);

// Part of a frame, in pixels; the whole frame where the width is 0.
struct FrameRegion {
  double left = 0, top = 0, width = 0, height = 0;
  friend bool operator==(const FrameRegion&, const FrameRegion&) = default;
};

class Converter {
 public:
  enum class Filter : std::uint8_t { bilinear, bicubic };
  // Both shapes must name all their colours. Only `region` of `from` is converted; it may begin between pixels. Alpha
  // is not converted. Throws Failure(unsupported) for colours between which zimg cannot convert.
  Converter(const FrameShape& from, const FrameShape& to, Filter filter, const FrameRegion& region = {});
  // Converts to red, green and blue in linear floating-point light, in planes as of a Shape with four bytes per sample.
  // 1 is the white of SDR (203 cd/m2, ITU-R BT.2408), and the primaries are those of BT.709.
  static Converter to_linear(const FrameShape& from, std::int32_t width, std::int32_t height, Filter filter,
                             const FrameRegion& region = {});
  ~Converter();
  Converter(Converter&&) noexcept;
  Converter& operator=(Converter&&) noexcept;

  // Both buffers are laid out as by layout_of(), at multiples of 64 bytes. Any thread may call it, with its own
  // `workspace`.
  void convert(const std::uint8_t* from, std::uint8_t* to, Buffer<std::uint8_t>& workspace) const;

 private:
  struct Graph;
  explicit Converter(std::unique_ptr<Graph> graph);
  std::unique_ptr<Graph> graph_;
};

// Makes a square of one colour, given in 8-bit red, green and blue, in samples of a video of this shape, whose colours
// are named.
inline constexpr std::int32_t kSampleSide = 64;
Buffer<std::uint8_t> make_samples(const std::array<std::uint8_t, 3>& color, const FrameShape& shape);

// Layout of the planes that to_linear() makes.
FrameLayout linear_layout(std::int32_t width, std::int32_t height);
// Converts linear light to the 8-bit sRGB that a model trained on photographs expects. Light above 0.6 is compressed,
// so that 1000 cd/m2 become white.
std::uint8_t tone_map(float linear);

// Converts a frame or a region of it to 8-bit red, green and blue in full range, in any size. HDR is converted by
// tone_map(); everything else keeps the video's own primaries and transfer.
class RgbConverter {
 public:
  struct Workspace {
    Buffer<std::uint8_t> converting, linear;
  };
  RgbConverter(const FrameShape& shape, const FrameRegion& region, std::int32_t width, std::int32_t height);

  // Shape of the planes.
  const FrameShape& shape() const { return seen_; }
  // Makes the planes, laid out as by layout_of(shape()). Any thread may call it.
  void planes(const std::uint8_t* picture, std::uint8_t* out, Workspace& workspace) const;

 private:
  bool linear_;
  FrameShape seen_;
  Converter converter_;
};

}  // namespace millrace::video_file
