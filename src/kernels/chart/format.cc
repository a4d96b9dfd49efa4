#include "src/kernels/chart/format.h"

namespace millrace::chart {
namespace {

rle::GrayTable gray_table_of(const rle::ColourTable& colours) {
  rle::GrayTable out;
  for (std::size_t k = 0; k < colours.size(); ++k) out[k] = colours[k].red;
  return out;
}

}  // namespace

Format::Format(const ChartSpec& spec, const rle::ColourTable& of_levels, int of_pixels, PixelKind wanted)
    : colours(of_levels), kind(wanted), channels(of_pixels) {
  const bool bits = kind == PixelKind::bits;
  const auto width = static_cast<std::uint64_t>(spec.width), height = static_cast<std::uint64_t>(spec.height);
  const rle::SampleDepth depth = kind == PixelKind::floats ? rle::SampleDepth::floats : rle::SampleDepth::bytes;
  pixels = bits ? rle::BitPacker(gray_table_of(colours)).pixels() : rle::encoded_levels(colours, channels, depth);
  image = {height, bits ? (width + 7) / 8 : width};
  if (channels == 3) image.push_back(3);
}

PixelPacker::PixelPacker(const Format& format)
    : bits_(format.kind == PixelKind::bits), packer_(gray_table_of(format.colours)) {}

const rle::Image& PixelPacker::pack(const rle::Image& picture) {
  if (!bits_) return picture;
  packer_.pack(picture, packed_);
  return packed_;
}

}  // namespace millrace::chart
