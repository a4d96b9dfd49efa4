// Input: a decoder's description of a video frame.
// Output: the meaning of its samples, and the layout of its planes in a slot of shared memory, the same for both
// processes.
// Never: holds samples of the frame.
//
// Planes are stored one after the other: Y, U, V, or R, G, B, or gray alone; then alpha, where there is one. A sample
// has `depth` bits. It takes one byte for a depth of 8, else the low bits of two bytes, the lower byte first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::video_file {

enum class ColorModel : std::uint32_t { gray, yuv, rgb };

// Codes of ITU-T H.273; 2: unspecified.
inline constexpr std::int32_t kUnspecified = 2;
enum class ColorRange : std::uint32_t { unspecified, limited, full };

struct Colors {
  ColorRange range = ColorRange::unspecified;
  std::int32_t matrix = kUnspecified, primaries = kUnspecified, transfer = kUnspecified;
  // Position of a chroma sample among those of luma: 0 unspecified, 1 left, 2 center, 3 top left, 4 top, 5 bottom left,
  // 6 bottom.
  std::int32_t siting = 0;

  friend bool operator==(const Colors&, const Colors&) = default;
};

struct FrameShape {
  std::int32_t width = 0, height = 0;
  ColorModel kind = ColorModel::yuv;
  std::uint32_t depth = 8;                      // 8 to 16
  std::uint32_t log2_cw = 0, log2_ch = 0;       // log2 of the factors by which U and V are narrower and lower
  std::uint32_t alpha = 0;                      // 1 where there is an alpha plane
  std::uint32_t interlaced = 0;                 // 1: two fields, the top one first; 2: the bottom one first
  std::int32_t aspect_num = 0, aspect_den = 1;  // of a sample; 0: unspecified
  Colors colors;

  friend bool operator==(const FrameShape&, const FrameShape&) = default;

  std::uint32_t color_planes() const { return kind == ColorModel::gray ? 1 : 3; }
  std::uint32_t planes() const { return color_planes() + alpha; }
  std::uint32_t sample_bytes() const { return depth > 8 ? 2 : 1; }
  bool is_chroma(std::uint32_t plane) const { return kind == ColorModel::yuv && (plane == 1 || plane == 2); }
  std::int32_t plane_width(std::uint32_t plane) const { return is_chroma(plane) ? ceil_shift(width, log2_cw) : width; }
  std::int32_t plane_height(std::uint32_t plane) const {
    return is_chroma(plane) ? ceil_shift(height, log2_ch) : height;
  }
  // Width and height with the padding that completes blocks of pixels with common chroma. The padding repeats the
  // nearest pixel where a decoder has written it, and is undefined otherwise.
  std::int32_t even_width(std::uint32_t plane) const {
    return is_chroma(plane) ? plane_width(plane) : ceil_shift(width, chroma_w()) << chroma_w();
  }
  std::int32_t even_height(std::uint32_t plane) const {
    return is_chroma(plane) ? plane_height(plane) : ceil_shift(height, chroma_h()) << chroma_h();
  }
  std::uint32_t chroma_w() const { return kind == ColorModel::yuv ? log2_cw : 0; }
  std::uint32_t chroma_h() const { return kind == ColorModel::yuv ? log2_ch : 0; }

 private:
  static std::int32_t ceil_shift(std::int32_t n, std::uint32_t by) { return (n + (1 << by) - 1) >> by; }
};

inline constexpr std::int32_t kMaxSide = 32768;
inline constexpr bool is_possible(const FrameShape& shape) {
  return shape.width > 0 && shape.height > 0 && shape.width <= kMaxSide && shape.height <= kMaxSide &&
         static_cast<std::uint32_t>(shape.kind) <= 2 && shape.depth >= 8 && shape.depth <= 16 && shape.log2_cw <= 2 &&
         shape.log2_ch <= 2 && shape.alpha <= 1 && static_cast<std::uint32_t>(shape.colors.range) <= 2;
}

// Layout of a slot. Rows begin at multiples of 64 bytes, for the widest vector instructions.
struct FrameLayout {
  std::array<std::size_t, 4> offset{}, stride{};
  std::size_t bytes = 0;
};
inline FrameLayout layout_of(const FrameShape& shape) {
  constexpr std::size_t kAlign = 64;
  FrameLayout out;
  // zimg reads some bytes before and after a narrow row.
  out.bytes = kAlign;
  for (std::uint32_t p = 0; p < shape.planes(); ++p) {
    out.offset[p] = out.bytes;
    const std::size_t row = static_cast<std::size_t>(shape.even_width(p)) * shape.sample_bytes();
    out.stride[p] = (row + kAlign - 1) / kAlign * kAlign;
    out.bytes += out.stride[p] * static_cast<std::size_t>(shape.even_height(p));
  }
  out.bytes += kAlign;
  // Slots begin at page boundaries.
  constexpr std::size_t kPage = 4096;
  out.bytes = (out.bytes + kPage - 1) / kPage * kPage;
  return out;
}

}  // namespace millrace::video_file
