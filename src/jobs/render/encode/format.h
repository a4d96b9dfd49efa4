// Enters: options whose defaults are filled.
// Leaves: what the levels of a chart look like, and what a chart is stored as.
// Never: draws.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/render/options.h"
#include "src/kernels/rle/pixels.h"

namespace millrace::render {

// Levels that stand for a colour of their own in bars and candles; and what volume is drawn in beside prices.
inline constexpr std::uint8_t kRising = 204, kFalling = 205, kVolumeLevel = 128;

rle::ColourTable colour_table_of(const Options& options);

// What a picture becomes.
struct Format {
  explicit Format(const Options& options);

  rle::ColourTable colours;
  rle::EncodedLevels pixels;  // of the picture; where bits is set, of the packed one
  bool bits, floats;
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

}  // namespace millrace::render
