// Input: an image of foreground levels, the colours of the levels, and the type in which pixels are stored.
// Output: the bytes of one pixel of each level, the pixels of an image, or an image whose pixels are bits.
// Never: lets neighbours influence a colour: each level has one colour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/kernels/rle/rle.h"

namespace millrace::rle {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool gray() const { return red == green && green == blue; }
  friend bool operator==(const Colour&, const Colour&) = default;
};

// Colour of each foreground level.
using ColourTable = std::array<Colour, 256>;
// Interpolates between `background` (level 0) and `foreground` (255), rounded to nearest.
ColourTable colour_table(Colour background, Colour foreground);

// Bytes in which a pixel of each level is stored.
struct EncodedLevels {
  static constexpr std::size_t kMaxBytes = 12;
  std::size_t bytes = 1;
  std::array<std::array<std::uint8_t, kMaxBytes>, 256> level{};

  std::span<const std::uint8_t> of(std::uint8_t k) const { return {level[k].data(), bytes}; }
};

enum class SampleDepth { bytes, floats };
// `channels` is 3, or 1 for the red channel of a gray table. Floats are byte / 255 in 32 bits, little-endian.
EncodedLevels encoded_levels(const ColourTable& colours, int channels, SampleDepth depth);
// Stores one byte per pixel.
EncodedLevels encoded_levels(const GrayTable& grays);

// Writes the pixels row by row: [height, width, pixels.bytes].
void paint(const Image& picture, const EncodedLevels& pixels, std::uint8_t* out);
// Like paint(), for one of so many images that they leave the caches before they are read. The memory at `out` is
// written without being read first. Call paint_end() on the painting thread before another thread reads. `memory` is
// reused from one image to the next.
void paint_past_caches(const Image& picture, const EncodedLevels& pixels, Buffer<std::uint8_t>& memory,
                       std::uint8_t* out);
void paint_end();

// Stores one bit per pixel: 1 where its gray is 128 or more. Bits are packed along each row like numpy.packbits: eight
// pixels per byte, the first one highest, the last byte filled with zeros.
class BitPacker {
 public:
  explicit BitPacker(const GrayTable& grays);
  // Makes the image of those bytes, (width + 7) / 8 wide, to be stored with pixels().
  void pack(const Image& picture, Image& out);
  const EncodedLevels& pixels() const { return pixels_; }

 private:
  std::array<std::uint8_t, 256> differs_{};  // by level: 1 where the bit is not the background's
  std::uint8_t background_;                  // eight background pixels
  EncodedLevels pixels_;
  Buffer<std::uint64_t> row_;
};

}  // namespace millrace::rle
