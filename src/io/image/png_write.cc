#include "src/io/image/png_write.h"

#include <libdeflate.h>
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "src/memory/buffer.h"

namespace millrace {

namespace {

// Text that marks our files (PNG, 11.3.4.3: a keyword, a zero, a text).
constexpr std::string_view kSoftwareText("Software\0millrace", 17);
// Bytes of the signature and the header chunk.
constexpr std::size_t kHeader = 8 + 25;

void append_number(std::uint32_t value, std::vector<std::uint8_t>& out) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

}  // namespace

// Appends a chunk (PNG, 5.3): length, name, data, CRC of the last two.
void append_png_chunk(std::string_view name, std::span<const std::uint8_t> data, std::vector<std::uint8_t>& out) {
  append_number(static_cast<std::uint32_t>(data.size()), out);
  const std::size_t begin = out.size();
  out.insert(out.end(), name.begin(), name.end());
  out.insert(out.end(), data.begin(), data.end());
  append_number(static_cast<std::uint32_t>(crc32_z(0, out.data() + begin, out.size() - begin)), out);
}

void append_png_header(const PngShape& shape, PngColors colors, std::vector<std::uint8_t>& out) {
  out.insert(out.end(), kSignature.begin(), kSignature.end());
  std::vector<std::uint8_t> header;
  append_number(shape.width, header);
  append_number(shape.height, header);
  // Compression by deflate, the only filter method, no interlacing.
  header.insert(header.end(), {static_cast<std::uint8_t>(shape.bits), static_cast<std::uint8_t>(colors), 0, 0, 0});
  append_png_chunk("IHDR", header, out);
}

void append_png_software(std::vector<std::uint8_t>& out) {
  append_png_chunk("tEXt", {reinterpret_cast<const std::uint8_t*>(kSoftwareText.data()), kSoftwareText.size()}, out);
}

void write_png(const OutputTarget& output, int width, int height, int channels, std::span<const std::uint8_t> pixels) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  // Buffer for the worst case, of which only the pages that are used take memory.
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  Buffer<std::uint8_t> out(bytes);
  if (png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels.data(), 0, nullptr) == 0) {
    throw Failure(ErrorCode::internal, std::string("the PNG cannot be encoded: ") + image.message, output.path());
  }
  std::vector<std::uint8_t> maker;
  append_png_software(maker);
  OutputFile file(output);
  file.write(std::as_bytes(std::span(out.data(), kHeader)));
  file.write(std::as_bytes(std::span(maker)));
  file.write(std::as_bytes(std::span(out.data() + kHeader, bytes - kHeader)));
  file.commit();
}

std::vector<std::uint8_t> compress_png_rows(std::span<const std::uint8_t> rows) {
  constexpr int kLevel = 1;
  // The compressor is kept for each thread, because it is as large as a small picture.
  thread_local const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> kCompressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  if (!kCompressor) throw std::bad_alloc();
  std::vector<std::uint8_t> out(libdeflate_zlib_compress_bound(kCompressor.get(), rows.size()));
  out.resize(libdeflate_zlib_compress(kCompressor.get(), rows.data(), rows.size(), out.data(), out.size()));
  return out;
}

void write_png_fast(const OutputTarget& output, int width, int height, int channels,
                    std::span<const std::uint8_t> pixels) {
  const auto bytes = static_cast<std::size_t>(channels), row = static_cast<std::size_t>(width) * bytes;
  // A row of filter Sub (PNG, 9.2) holds differences to the pixel on the left.
  constexpr std::uint8_t kSub = 1;
  std::vector<std::uint8_t> rows;
  rows.reserve((row + 1) * static_cast<std::size_t>(height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    const std::uint8_t* from = pixels.data() + y * row;
    rows.push_back(kSub);
    rows.insert(rows.end(), from, from + bytes);
    for (std::size_t i = bytes; i < row; ++i) rows.push_back(static_cast<std::uint8_t>(from[i] - from[i - bytes]));
  }
  const std::vector<std::uint8_t> stream = compress_png_rows(rows);
  std::vector<std::uint8_t> out;
  append_png_header({static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), channels, 8},
                    channels == 3 ? PngColors::rgb : PngColors::gray, out);
  append_png_software(out);
  append_png_chunk("IDAT", stream, out);
  append_png_chunk("IEND", {}, out);
  OutputFile file(output);
  file.write(std::as_bytes(std::span(out)));
  file.commit();
}

bool is_own_png(std::span<const std::uint8_t> front) {
  // The text follows the header, the chunk's length and its name.
  constexpr std::size_t kText = kHeader + 8;
  return front.size() >= kText + kSoftwareText.size() &&
         std::memcmp(front.data() + kText, kSoftwareText.data(), kSoftwareText.size()) == 0;
}

void append_png(const PngShape& shape, std::span<const std::uint8_t> stream, std::vector<std::uint8_t>& out) {
  append_png_header(shape, shape.channels == 3 ? PngColors::rgb : PngColors::gray, out);
  append_png_chunk("IDAT", stream, out);
  append_png_chunk("IEND", {}, out);
}

}  // namespace millrace
