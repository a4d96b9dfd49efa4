// Input: the colours of a chart's levels, and the wanted type of pixels.
// Output: the format in which a chart is stored.
// Never: draws.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/chart/chart.h"
#include "src/kernels/rle/pixels.h"

namespace millrace::chart {

// Types of pixels. bytes; floats: byte / 255; bits: 1 where the byte is 128 or more, as numpy.packbits.
enum class PixelKind : std::uint8_t { bytes, floats, bits };

// Stored form of a chart's image.
struct Format {
  // `channels` is 3, or 1 for the red of each colour; bits have 1.
  Format(const ChartSpec& spec, const rle::ColourTable& colours, int channels, PixelKind kind);

  rle::ColourTable colours;
  rle::EncodedLevels pixels;  // of the image; for bits, of the packed one
  PixelKind kind;
  int channels;
  std::vector<std::uint64_t> image;  // [H, W], [H, W, 3] or [H, (W + 7) / 8]
  std::size_t image_bytes() const { return image[0] * image[1] * pixels.bytes; }
};

// Converts images into their stored form: packs bits, leaves others unchanged. Used by one thread at a time.
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
