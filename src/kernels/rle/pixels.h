// Input: a picture of ink, the colours of its levels, and the type that pixels are stored as.
// Output: for each level, the bytes of one pixel; the pixels of a picture; a picture whose pixels are bits.
// Never: decides colours by neighbours: a level has one colour.
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

// What each level of ink looks like.
using ColourTable = std::array<Colour, 256>;
// Between paper (level 0) and ink (255), rounded to nearest.
ColourTable colour_table(Colour paper, Colour ink);

// The bytes that a pixel of each level is stored as.
struct EncodedLevels {
  static constexpr std::size_t kMostBytes = 12;
  std::size_t bytes = 1;
  std::array<std::array<std::uint8_t, kMostBytes>, 256> level{};

  std::span<const std::uint8_t> of(std::uint8_t k) const { return {level[k].data(), bytes}; }
};

enum class Depth { bytes, floats };
// channels 1 (the red of each colour, for a table that is gray) or 3. Floats are byte / 255 in 32 bits, little-endian.
EncodedLevels encoded_levels(const ColourTable& colours, int channels, Depth depth);
// One byte a pixel.
EncodedLevels encoded_levels(const GrayTable& grays);

// Pixels row by row: [height, width, pixels.bytes].
void paint(const Image& picture, const EncodedLevels& pixels, std::uint8_t* out);
// The same where `out` is one of so many pictures that they leave the caches before they are read: memory is written
// without having been read first. Call paint_end() on the thread that painted before another one reads.
// `memory` is kept from one picture to the next.
void paint_past_caches(const Image& picture, const EncodedLevels& pixels, Buffer<std::uint8_t>& memory,
                       std::uint8_t* out);
void paint_end();

// A bit a pixel, 1 where its gray is 128 or more, packed along each row as numpy.packbits does: eight pixels a byte,
// the first one highest, the last byte filled with zeros.
class BitPacker {
 public:
  explicit BitPacker(const GrayTable& grays);
  // The picture of those bytes, (width + 7) / 8 wide, to be stored as pixels().
  void pack(const Image& picture, Image& out);
  const EncodedLevels& pixels() const { return pixels_; }

 private:
  std::array<std::uint8_t, 256> differs_{};  // 1 where it is not as paper is, by level
  std::uint8_t paper_;                       // eight pixels of it
  EncodedLevels pixels_;
  Buffer<std::uint64_t> row_;
};

}  // namespace millrace::rle
