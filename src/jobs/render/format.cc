#include "src/jobs/render/format.h"

namespace millrace::render {
namespace {

ink::Tones tones_of(const ink::Palette& palette) {
  ink::Tones out;
  for (std::size_t k = 0; k < palette.size(); ++k) out[k] = palette[k].red;
  return out;
}

}  // namespace

ink::Palette palette_of(const Options& options) {
  ink::Palette out = ink::palette(*options.paper, *options.ink);
  if (options.style == Style::ohlc || options.style == Style::candle) {
    out[kRising] = *options.rising;
    out[kFalling] = *options.falling;
  }
  return out;
}

Format::Format(const Options& options)
    : palette(palette_of(options)),
      bits(options.dtype == PixelType::bit),
      floats(options.dtype == PixelType::f32),
      channels(options.rgb ? 3 : 1) {
  const auto width = static_cast<std::uint64_t>(options.width), height = static_cast<std::uint64_t>(options.height);
  pixels = bits ? ink::BitPacker(tones_of(palette)).pixels()
                : ink::pixels(palette, channels, floats ? ink::Depth::floats : ink::Depth::bytes);
  image = {height, bits ? (width + 7) / 8 : width};
  if (channels == 3) image.push_back(3);
}

Packing::Packing(const Format& format) : bits_(format.bits), packer_(tones_of(format.palette)) {}

const ink::Picture& Packing::pack(const ink::Picture& picture) {
  if (!bits_) return picture;
  packer_.pack(picture, packed_);
  return packed_;
}

}  // namespace millrace::render
