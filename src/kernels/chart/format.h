// Input: the colours of a chart's levels, and how pixels are wanted.
// Output: what a chart is stored as.
// Never: draws.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/chart/chart.h"
#include "src/kernels/rle/pixels.h"

namespace millrace::chart {

// bytes; floats: byte / 255; bits: 1 where the byte is 128 or more, as numpy.packbits.
enum class PixelKind : std::uint8_t { bytes, floats, bits };

// What a picture becomes.
struct Format {
  // With three channels, or with one the red of each colour; bits have one.
  Format(const Spec& spec, const rle::ColourTable& colours, int channels, PixelKind kind);

  rle::ColourTable colours;
  rle::EncodedLevels pixels;  // of the picture; for bits, of the packed one
  PixelKind kind;
  int channels;
  std::vector<std::uint64_t> image;  // [H, W], [H, W, 3] or [H, (W + 7) / 8]
  std::size_t image_bytes() const { return image[0] * image[1] * pixels.bytes; }
};

// Turns pictures into those that are stored, where they are not the same: into bits. One thread at a time.
class PixelPacker {
 public:
  explicit PixelPacker(const Format& format);
  const rle::Image& pack(const rle::Image& picture);

 private:
  bool bits_;
  rle::BitPacker packer_;
  rle::Image packed_;
};

}  // namespace millrace::chart
