#include "src/io/image/thumbnail_jpeg.h"

#include <cstdlib>

#include "src/io/image/jpeg_errors.h"
#include "src/kernels/resize/resize.h"

namespace millrace {
namespace {

struct EncodedJpeg {
  unsigned char* data = nullptr;
  unsigned long size = 0;
  ~EncodedJpeg() { std::free(data); }
};

bool encode(const Thumbnail& thumbnail, int quality, EncodedJpeg& out) {
  jpeg_compress_struct info{};
  JpegErrors errors{};
  info.err = errors.set_up();
  if (setjmp(errors.jump) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &out.data, &out.size);
  info.image_width = static_cast<JDIMENSION>(thumbnail.width);
  info.image_height = static_cast<JDIMENSION>(thumbnail.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.optimize_coding = TRUE;
  if (quality >= 80) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(thumbnail.rgb.data() + std::size_t{3} * info.next_scanline * info.image_width);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

bool decode(std::span<const std::uint8_t> jpeg, Thumbnail& out) {
  constexpr JDIMENSION kMaxSide = 512;
  jpeg_decompress_struct info{};
  JpegErrors errors{};
  info.err = errors.set_up();
  if (setjmp(errors.jump) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, jpeg.data(), static_cast<unsigned long>(jpeg.size()));
  jpeg_read_header(&info, TRUE);
  const bool sane = info.image_width <= kMaxSide && info.image_height <= kMaxSide && info.num_components != 4;
  if (sane) {
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    out.width = static_cast<int>(info.output_width);
    out.height = static_cast<int>(info.output_height);
    out.rgb.resize(std::size_t{3} * info.output_width * info.output_height);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = out.rgb.data() + std::size_t{3} * info.output_scanline * info.output_width;
      jpeg_read_scanlines(&info, &row, 1);
    }
  }
  jpeg_destroy_decompress(&info);
  return sane;
}

}  // namespace

std::vector<std::uint8_t> encode_thumbnail(const Thumbnail& thumbnail, std::size_t max_bytes) {
  for (const int quality : {90, 84, 78, 70, 60, 50, 40, 30, 20, 10}) {
    EncodedJpeg out;
    if (!encode(thumbnail, quality, out)) return {};
    if (out.size <= max_bytes || quality == 10) return {out.data, out.data + out.size};
  }
  return {};
}

std::optional<Thumbnail> decode_thumbnail(std::span<const std::uint8_t> jpeg) {
  Thumbnail out;
  if (jpeg.empty() || !decode(jpeg, out)) return std::nullopt;
  return out;
}

std::vector<std::uint8_t> resize_to_square(const Thumbnail& thumbnail, int side) {
  const auto pixels = static_cast<std::size_t>(thumbnail.width) * static_cast<std::size_t>(thumbnail.height);
  const auto count = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  std::vector<std::uint8_t> plane(pixels), out(3 * count);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < pixels; ++i) plane[i] = thumbnail.rgb[3 * i + c];
    Resizer resizer(thumbnail.width, thumbnail.height, side, side);
    resizer.push(plane.data(), thumbnail.width, thumbnail.height);
    const std::uint8_t* small = resizer.result();
    for (std::size_t i = 0; i < count; ++i) out[3 * i + c] = small[i];
  }
  return out;
}

}  // namespace millrace
