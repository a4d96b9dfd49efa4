#include "src/jobs/render/encode/format.h"

namespace millrace::render {
namespace {

rle::GrayTable gray_table_of(const rle::ColourTable& colours) {
  rle::GrayTable out;
  for (std::size_t k = 0; k < colours.size(); ++k) out[k] = colours[k].red;
  return out;
}

}  // namespace

rle::ColourTable colour_table_of(const Options& options) {
  rle::ColourTable out = rle::colour_table(*options.paper, *options.ink);
  if (options.style == Style::ohlc || options.style == Style::candle) {
    out[kRising] = *options.rising;
    out[kFalling] = *options.falling;
  }
  return out;
}

Format::Format(const Options& options)
    : colours(colour_table_of(options)),
      bits(options.dtype == PixelType::bit),
      floats(options.dtype == PixelType::f32),
      channels(options.rgb ? 3 : 1) {
  const auto width = static_cast<std::uint64_t>(options.width), height = static_cast<std::uint64_t>(options.height);
  pixels = bits ? rle::BitPacker(gray_table_of(colours)).pixels()
                : rle::encoded_levels(colours, channels, floats ? rle::Depth::floats : rle::Depth::bytes);
  image = {height, bits ? (width + 7) / 8 : width};
  if (channels == 3) image.push_back(3);
}

PixelPacker::PixelPacker(const Format& format) : bits_(format.bits), packer_(gray_table_of(format.colours)) {}

const rle::Image& PixelPacker::pack(const rle::Image& picture) {
  if (!bits_) return picture;
  packer_.pack(picture, packed_);
  return packed_;
}

}  // namespace millrace::render
