// Converts a decoder's frame, in one of a hundred formats, to planes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/io/video/helper/channel.h"

namespace millrace::video_file {
namespace {

bool is_big_endian(const AVPixFmtDescriptor& about) { return (about.flags & AV_PIX_FMT_FLAG_BE) != 0; }

// True where each component has a plane of its own, with samples in the program's format.
bool has_native_layout(const AVPixFmtDescriptor& about, const FrameShape& shape) {
  if ((about.flags & (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM)) != 0) return false;
  if (is_big_endian(about) && shape.depth > 8) return false;
  for (int c = 0; c < about.nb_components; ++c) {
    const AVComponentDescriptor& one = about.comp[c];
    if (one.step != static_cast<int>(shape.sample_bytes()) || one.shift != 0 || one.offset != 0) return false;
  }
  return true;
}

ColorRange range_of(AVColorRange range) {
  return range == AVCOL_RANGE_JPEG   ? ColorRange::full
         : range == AVCOL_RANGE_MPEG ? ColorRange::limited
                                     : ColorRange::unspecified;
}

bool is_old_full_range(AVPixelFormat format) {
  return format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P ||
         format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ411P;
}

}  // namespace

FrameShape shape_of(const AVFrame& frame) {
  const auto format = static_cast<AVPixelFormat>(frame.format);
  const AVPixFmtDescriptor* about = av_pix_fmt_desc_get(format);
  const char* name = av_get_pix_fmt_name(format);
  const auto refuse = [&] {
    throw FatalError(ErrorCode::unsupported,
                     fmt::format("its pixel format {} is not supported", name == nullptr ? "(unknown)" : name));
  };
  constexpr std::uint64_t kUnknown = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;
  if (about == nullptr || (about->flags & kUnknown) != 0 || about->nb_components < 1 || format == AV_PIX_FMT_XYZ12LE ||
      format == AV_PIX_FMT_XYZ12BE)
    refuse();
  FrameShape out;
  out.width = frame.width;
  out.height = frame.height;
  const bool palette = (about->flags & AV_PIX_FMT_FLAG_PAL) != 0;
  const bool alpha = (about->flags & AV_PIX_FMT_FLAG_ALPHA) != 0 || palette;
  const int colors = about->nb_components - ((about->flags & AV_PIX_FMT_FLAG_ALPHA) != 0 && !palette ? 1 : 0);
  out.kind = palette || (about->flags & AV_PIX_FMT_FLAG_RGB) != 0 ? ColorModel::rgb
             : colors == 1                                        ? ColorModel::gray
                                                                  : ColorModel::yuv;
  out.alpha = alpha ? 1 : 0;
  int depth = 8;
  for (int c = 0; c < about->nb_components && !palette; ++c) depth = std::max(depth, about->comp[c].depth);
  // Frames with pixels of 5, 6 and 5 bits, or of one bit, would change if they were widened.
  for (int c = 0; c < about->nb_components && !palette; ++c)
    if (about->comp[c].depth != depth) refuse();
  out.depth = static_cast<std::uint32_t>(depth);
  if (out.kind == ColorModel::yuv) {
    out.log2_cw = about->log2_chroma_w;
    out.log2_ch = about->log2_chroma_h;
  }
  out.interlaced = 0;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  if ((frame.flags & AV_FRAME_FLAG_INTERLACED) != 0)
    out.interlaced = (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0 ? 1 : 2;
#else
  if (frame.interlaced_frame != 0) out.interlaced = frame.top_field_first != 0 ? 1 : 2;
#endif
  out.aspect_num = frame.sample_aspect_ratio.num;
  out.aspect_den = std::max(frame.sample_aspect_ratio.den, 1);
  out.colors = {is_old_full_range(format) ? ColorRange::full : range_of(frame.color_range), frame.colorspace,
                frame.color_primaries, frame.color_trc, frame.chroma_location};
  if (!is_possible(out)) refuse();
  return out;
}

namespace {

// Fills the padding columns and rows, for readers that take chroma in blocks.
void fill_blocks(const FrameShape& shape, std::uint8_t* slot) {
  const FrameLayout layout = layout_of(shape);
  const std::size_t bytes = shape.sample_bytes();
  for (std::uint32_t p = 0; p < shape.planes(); ++p) {
    const auto width = static_cast<std::size_t>(shape.plane_width(p)),
               wide = static_cast<std::size_t>(shape.even_width(p));
    const auto height = static_cast<std::size_t>(shape.plane_height(p)),
               high = static_cast<std::size_t>(shape.even_height(p));
    std::uint8_t* const plane = slot + layout.offset[p];
    for (std::size_t y = 0; y < height && wide > width; ++y) {
      std::uint8_t* row = plane + y * layout.stride[p];
      for (std::size_t x = width; x < wide; ++x) std::memcpy(row + x * bytes, row + (width - 1) * bytes, bytes);
    }
    for (std::size_t y = height; y < high; ++y)
      std::memcpy(plane + y * layout.stride[p], plane + (height - 1) * layout.stride[p], wide * bytes);
  }
}

}  // namespace

void copy_pixels(const AVFrame& frame, const FrameShape& shape, std::uint8_t* slot) {
  const AVPixFmtDescriptor& about = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const FrameLayout layout = layout_of(shape);
  const bool direct = has_native_layout(about, shape);
  const bool palette = (about.flags & AV_PIX_FMT_FLAG_PAL) != 0;
  const std::uint8_t* data[4] = {frame.data[0], frame.data[1], frame.data[2], frame.data[3]};
  std::vector<std::uint16_t> row(direct ? 0 : static_cast<std::size_t>(shape.width));
  for (std::uint32_t p = 0; p < shape.planes(); ++p) {
    const int width = shape.plane_width(p), height = shape.plane_height(p);
    std::uint8_t* to = slot + layout.offset[p];
    const AVComponentDescriptor& component = about.comp[palette ? 0 : p];
    for (int y = 0; y < height; ++y, to += layout.stride[p]) {
      if (direct) {
        std::memcpy(to, frame.data[component.plane] + static_cast<std::ptrdiff_t>(y) * frame.linesize[component.plane],
                    static_cast<std::size_t>(width) * shape.sample_bytes());
        continue;
      }
      // A palette's entries are blue, green, red and alpha.
      const int entry = !palette ? 0 : p == 3 ? 3 : 2 - static_cast<int>(p);
      av_read_image_line2(row.data(), data, frame.linesize, &about, 0, y, palette ? entry : static_cast<int>(p), width,
                          palette ? 1 : 0, sizeof(std::uint16_t));
      if (shape.depth > 8) {
        std::memcpy(to, row.data(), static_cast<std::size_t>(width) * 2);
      } else {
        for (int x = 0; x < width; ++x) to[x] = static_cast<std::uint8_t>(row[static_cast<std::size_t>(x)]);
      }
    }
  }
  fill_blocks(shape, slot);
}

AVPixelFormat pixel_format_of(const FrameShape& shape) {
  std::string name;
  if (shape.kind == ColorModel::gray) {
    name = shape.alpha != 0 ? "ya" : "gray";
    if (shape.alpha != 0) return shape.depth == 8 ? AV_PIX_FMT_YA8 : AV_PIX_FMT_NONE;  // packed only
    if (shape.depth > 8) name += fmt::format("{}le", shape.depth);
    return av_get_pix_fmt(name.c_str());
  }
  if (shape.kind == ColorModel::rgb) {
    name = shape.alpha != 0 ? "gbrap" : "gbrp";
  } else {
    constexpr const char* kNames[3][3] = {{"444", "440", ""}, {"422", "420", ""}, {"411", "", "410"}};
    const char* chroma = kNames[shape.log2_cw][shape.log2_ch];
    if (*chroma == 0) return AV_PIX_FMT_NONE;
    name = fmt::format("yuv{}{}p", shape.alpha != 0 ? "a" : "", chroma);
  }
  if (shape.depth > 8) name += fmt::format("{}le", shape.depth);
  return av_get_pix_fmt(name.c_str());
}

}  // namespace millrace::video_file
