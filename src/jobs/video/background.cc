#include "src/jobs/video/background.h"

#include <algorithm>
#include <cstring>

#include "src/io/image/picture.h"
#include "src/io/image/picture_rows.h"

namespace millrace::video {
namespace {

// Reads an image as three planes: red, green and blue.
Buffer<std::uint8_t> read_picture(const std::string& path, RunContext& context, video_file::FrameShape& shape) {
  DecodeOptions options;
  options.helpers = &context.helpers;
  options.cancelled = [&context] { return context.cancel.cancelled(); };
  constexpr std::uint64_t kMaxPixels = 200'000'000;
  options.max_pixels = kMaxPixels;
  auto opened = PictureRows::open(FileReader::open(path).or_throw(), options, Bytes{1 << 20});
  if (!opened && opened.error().code == ErrorCode::too_large) {
    Error error = opened.error();
    error.remedy = "use a smaller background";
    throw Failure(error);
  }
  const auto rows = std::move(opened).or_throw();
  shape = {};
  shape.width = rows->info().width;
  shape.height = rows->info().height;
  shape.kind = video_file::ColorModel::rgb;
  const video_file::FrameLayout layout = video_file::layout_of(shape);
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

Buffer<std::uint8_t> rotate_right(const Buffer<std::uint8_t>& pixels, video_file::FrameShape& shape) {
  const video_file::FrameShape before = shape;
  std::swap(shape.width, shape.height);
  const video_file::FrameLayout from = video_file::layout_of(before), to = video_file::layout_of(shape);
  Buffer<std::uint8_t> out(to.bytes);
  for (std::size_t p = 0; p < 3; ++p)
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        out[to.offset[p] + static_cast<std::size_t>(y) * to.stride[p] + static_cast<std::size_t>(x)] =
            pixels[from.offset[p] + static_cast<std::size_t>(before.height - 1 - x) * from.stride[p] +
                   static_cast<std::size_t>(y)];
  return out;
}

}  // namespace

Buffer<std::uint8_t> read_background(const std::string& path, const video_file::FrameShape& shape, int rotation,
                                     RunContext& context) {
  video_file::FrameShape picture;
  Buffer<std::uint8_t> pixels = read_picture(path, context, picture);
  // Rotates the image to the orientation in which frames are stored: players rotate them clockwise before they show
  // them.
  for (int turns = (4 - std::max(rotation, 0) / 90) % 4; turns > 0; --turns) pixels = rotate_right(pixels, picture);
  constexpr std::int32_t kSrgb = 13, kBt709 = 1;
  // The image is in sRGB. For a video in standard range its colors are taken to be those of the video.
  picture.colors = {video_file::ColorRange::full, 0, kBt709, kSrgb, 0};
  if (!video_file::is_hdr(shape.colors)) {
    picture.colors.primaries = shape.colors.primaries;
    picture.colors.transfer = shape.colors.transfer;
  }
  // The centered part of the image that has the video's aspect ratio.
  const double scale =
      std::min(static_cast<double>(picture.width) / shape.width, static_cast<double>(picture.height) / shape.height);
  video_file::FrameRegion region;
  region.width = shape.width * scale;
  region.height = shape.height * scale;
  region.left = (picture.width - region.width) / 2;
  region.top = (picture.height - region.height) / 2;
  video_file::FrameShape made = shape;
  made.alpha = 0;
  Buffer<std::uint8_t> out(video_file::layout_of(shape).bytes), workspace;
  video_file::Converter(picture, made, video_file::Converter::Filter::bicubic, region)
      .convert(pixels.data(), out.data(), workspace);
  return out;
}

}  // namespace millrace::video
