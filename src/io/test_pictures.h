// Input: sizes of images, and seeds.
// Output: images in every encoding that the tests need, and folders that are removed at the end of a test.
// Never: part of the program.
#pragma once

#include <cstddef>
#include <cstdio>

// jpeglib.h needs <cstddef> and <cstdio> before it.
#include <jpeglib.h>
#include <png.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "src/io/image/picture.h"

namespace millrace {

#ifdef MILLRACE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

class TestFolder {
 public:
  TestFolder() {
    std::string name = std::filesystem::temp_directory_path() / "millrace-io-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << bytes;
    return at(name);
  }

 private:
  std::string path_;
};

struct TestPixels {
  int width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> data;
  const std::uint8_t* row(int y) const { return data.data() + static_cast<std::ptrdiff_t>(y) * width * channels; }
};

// Gradients with noise: every row, column and channel differs.
inline TestPixels test_pixels(int width, int height, int channels, std::uint32_t seed = 1) {
  TestPixels out{width, height, channels, {}};
  std::uint32_t state = seed * 2654435761U + 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        state = state * 1664525U + 1013904223U;
        const int slope = x * 200 / width * (c == 1 ? 1 : 0) + y * 200 / height * (c != 1 ? 1 : 0) + c * 10;
        out.data.push_back(static_cast<std::uint8_t>(slope + static_cast<int>(state >> 28)));
      }
    }
  }
  return out;
}

// A TIFF structure that holds an orientation and a capture time.
inline std::string test_exif(int orientation) {
  using namespace std::string_literals;
  std::string block = "II*\0\x08\0\0\0"s;
  block += "\x02\0"s;                                                                 // two entries
  block += "\x12\x01\x03\0\x01\0\0\0"s + static_cast<char>(orientation) + "\0\0\0"s;  // Orientation
  block += "\x69\x87\x04\0\x01\0\0\0\x26\0\0\0"s;                                     // the EXIF directory, at 38
  block += "\0\0\0\0"s;
  block += "\x01\0"s;
  block += "\x03\x90\x02\0\x14\0\0\0\x38\0\0\0"s;  // DateTimeOriginal, at 56
  block += "\0\0\0\0"s;
  return block + "2024:05:01 12:30:00\0"s;
}

struct JpegKind {
  bool progressive = false;
  int quality = 90;
  int sampling = 2;  // sampling factor of luma in both directions: 1 keeps full colour
  int restart_rows = 0;
  std::string exif{};  // a TIFF structure
};

inline std::string jpeg_bytes(const TestPixels& pixels, const JpegKind& kind = {}) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &out, &size);
  info.image_width = static_cast<JDIMENSION>(pixels.width);
  info.image_height = static_cast<JDIMENSION>(pixels.height);
  info.input_components = pixels.channels;
  info.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : pixels.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, kind.quality, TRUE);
  if (pixels.channels == 3) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = kind.sampling;
  if (kind.progressive) jpeg_simple_progression(&info);
  info.restart_in_rows = kind.restart_rows;
  jpeg_start_compress(&info, TRUE);
  if (!kind.exif.empty()) {
    const std::string block = std::string("Exif\0\0", 6) + kind.exif;
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(block.data()),
                      static_cast<unsigned>(block.size()));
  }
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels.row(static_cast<int>(info.next_scanline)));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string bytes(reinterpret_cast<char*>(out), size);
  std::free(out);
  return bytes;
}

struct PngKind {
  int color = PNG_COLOR_TYPE_RGB;
  int depth = 8;  // rows hold big-endian samples at 16
  bool interlaced = false;
  std::string exif{};
  bool exif_last = false;  // after the pixels, as some programs write it
  std::vector<png_color> palette{};
};

// `rows` holds `height` packed rows of `pitch` bytes.
inline std::string png_bytes(int width, int height, const std::vector<std::uint8_t>& rows, std::size_t pitch,
                             const PngKind& kind) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, png_size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), n);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), kind.depth, kind.color,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!kind.palette.empty()) png_set_PLTE(png, info, kind.palette.data(), static_cast<int>(kind.palette.size()));
  std::string exif = kind.exif;
  if (!exif.empty() && !kind.exif_last) {
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(exif.size()), reinterpret_cast<png_bytep>(exif.data()));
  }
  png_write_info(png, info);
  std::vector<png_bytep> lines;
  lines.reserve(static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    lines.push_back(const_cast<png_bytep>(rows.data()) + static_cast<std::size_t>(y) * pitch);
  png_write_image(png, lines.data());
  if (!exif.empty() && kind.exif_last) {
    png_write_chunk(png, reinterpret_cast<png_const_bytep>("eXIf"), reinterpret_cast<png_const_bytep>(exif.data()),
                    exif.size());
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

inline std::string png_bytes(const TestPixels& pixels, PngKind kind = {}) {
  if (pixels.channels == 1) kind.color = PNG_COLOR_TYPE_GRAY;
  if (pixels.channels == 2) kind.color = PNG_COLOR_TYPE_GRAY_ALPHA;
  if (pixels.channels == 4) kind.color = PNG_COLOR_TYPE_RGB_ALPHA;
  return png_bytes(pixels.width, pixels.height, pixels.data,
                   static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.channels), kind);
}

// Keeps the pixels that a decoder returns.
class KeepingSink : public RowSink {
 public:
  Outcome<void> begin(const PictureInfo& given) override {
    info = given;
    ++begun;
    return begin_error;
  }
  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(info.width) * info.channels;
    for (int r = 0; r < count; ++r) pixels.insert(pixels.end(), data + r * stride, data + r * stride + pitch);
  }
  int rows_kept() const { return static_cast<int>(pixels.size()) / std::max(1, info.width * info.channels); }

  PictureInfo info;
  int begun = 0;
  std::vector<std::uint8_t> pixels;
  Outcome<void> begin_error;
};

struct TestDecoding {
  Outcome<DecodeResult> outcome = Error{};
  KeepingSink sink;
};

inline TestDecoding decode_file(const std::string& path, const DecodeOptions& options = {}) {
  TestDecoding out;
  auto file = FileReader::open(path);
  out.outcome = file ? decode_picture(**file, options, out.sink) : Outcome<DecodeResult>(file.error());
  return out;
}

}  // namespace millrace
