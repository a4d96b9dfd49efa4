#include "src/jobs/video/background.h"

#include <algorithm>
#include <cstring>

#include "src/io/image/picture.h"
#include "src/io/image/picture_rows.h"

namespace millrace::video {
namespace {

// Red, green and blue, a plane each.
Buffer<std::uint8_t> read_picture(const std::string& path, RunContext& context, film::Shape& shape) {
  DecodeOptions options;
  options.helpers = &context.helpers;
  options.cancelled = [&context] { return context.cancel.cancelled(); };
  constexpr std::uint64_t kMostPixels = 200'000'000;
  options.most_pixels = kMostPixels;
  auto rows = PictureRows::open(FileReader::open(path).or_throw(), options, Bytes{1 << 20}).or_throw();
  shape = {};
  shape.width = rows->info().width;
  shape.height = rows->info().height;
  shape.kind = film::Kind::rgb;
  const film::Layout layout = film::layout_of(shape);
  Buffer<std::uint8_t> out(layout.bytes);
  std::vector<std::uint8_t> row(rows->row_bytes());
  const std::size_t channels = row.size() / static_cast<std::size_t>(shape.width);
  for (std::int32_t y = 0; y < shape.height; ++y) {
    rows->take(1, row.data()).or_throw();
    for (std::size_t p = 0; p < 3; ++p) {
      std::uint8_t* to = out.data() + layout.offset[p] + static_cast<std::size_t>(y) * layout.stride[p];
      const std::uint8_t* from = row.data() + (channels == 3 ? p : 0);
      for (std::size_t x = 0; x < static_cast<std::size_t>(shape.width); ++x) to[x] = from[x * channels];
    }
  }
  return out;
}

}  // namespace

Buffer<std::uint8_t> background_picture(const std::string& path, const film::Shape& shape, RunContext& context) {
  film::Shape picture;
  const Buffer<std::uint8_t> pixels = read_picture(path, context, picture);
  constexpr std::int32_t kSrgb = 13, kBt709 = 1;
  // What a photograph is in; a film in standard range has it as its own.
  picture.colors = {film::Range::full, 0, kBt709, kSrgb, 0};
  if (!film::is_hdr(shape.colors)) {
    picture.colors.primaries = shape.colors.primaries;
    picture.colors.transfer = shape.colors.transfer;
  }
  film::Shape large = shape;
  large.alpha = 0;
  const double scale =
      std::max(static_cast<double>(shape.width) / picture.width, static_cast<double>(shape.height) / picture.height);
  const auto covering = [&](std::int32_t side, std::int32_t wanted, std::uint32_t shift) {
    const auto scaled = std::max(wanted, static_cast<std::int32_t>(side * scale + 0.5));
    return ((scaled - 1) | ((1 << shift) - 1)) + 1;
  };
  large.width = covering(picture.width, shape.width, shape.log2_cw);
  large.height = covering(picture.height, shape.height, shape.log2_ch);
  const film::Converter converter(picture, large, film::Converter::Filter::bicubic);
  const film::Layout from = film::layout_of(large), to = film::layout_of(shape);
  Buffer<std::uint8_t> covered(from.bytes), out(to.bytes), workspace;
  converter.convert(pixels.data(), covered.data(), workspace);
  // Where chroma begins, too.
  const std::int32_t left = ((large.width - shape.width) / 2) >> shape.log2_cw << shape.log2_cw;
  const std::int32_t top = ((large.height - shape.height) / 2) >> shape.log2_ch << shape.log2_ch;
  const std::size_t bytes = shape.sample_bytes();
  for (std::uint32_t p = 0; p < shape.color_planes(); ++p) {
    const std::int32_t x = shape.is_chroma(p) ? left >> shape.log2_cw : left;
    const std::int32_t first = shape.is_chroma(p) ? top >> shape.log2_ch : top;
    for (std::int32_t y = 0; y < shape.plane_height(p); ++y)
      std::memcpy(out.data() + to.offset[p] + static_cast<std::size_t>(y) * to.stride[p],
                  covered.data() + from.offset[p] + static_cast<std::size_t>(first + y) * from.stride[p] +
                      static_cast<std::size_t>(x) * bytes,
                  static_cast<std::size_t>(shape.plane_width(p)) * bytes);
  }
  return out;
}

}  // namespace millrace::video
