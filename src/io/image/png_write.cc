#include "src/io/image/png_write.h"

#include <png.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/io/file/atomic_file.h"

namespace millrace {

void write_png(const std::string& path, int width, int height, int channels, std::span<const std::uint8_t> pixels) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 0;
  std::vector<char> out;
  bool done = png_image_write_get_memory_size(image, bytes, 0, pixels.data(), 0, nullptr) != 0;
  if (done) {
    out.resize(bytes);
    done = png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels.data(), 0, nullptr) != 0;
  }
  if (!done) throw Failure(ErrorCode::internal, std::string("the PNG could not be made: ") + image.message, path);
  AtomicFile file(path);
  file.write({out.data(), bytes});
  file.commit();
}

namespace {

void append_number(std::uint32_t value, std::vector<std::uint8_t>& out) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

// PNG, 5.3: length, name, data, CRC of the last two.
void append_chunk(std::string_view name, std::span<const std::uint8_t> data, std::vector<std::uint8_t>& out) {
  append_number(static_cast<std::uint32_t>(data.size()), out);
  const std::size_t begin = out.size();
  out.insert(out.end(), name.begin(), name.end());
  out.insert(out.end(), data.begin(), data.end());
  append_number(static_cast<std::uint32_t>(crc32_z(0, out.data() + begin, out.size() - begin)), out);
}

}  // namespace

void append_png(const PngShape& shape, std::span<const std::uint8_t> stream, std::vector<std::uint8_t>& out) {
  constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  out.insert(out.end(), kSignature.begin(), kSignature.end());
  std::vector<std::uint8_t> header;
  append_number(shape.width, header);
  append_number(shape.height, header);
  // Bits, gray or RGB, deflate, the one set of filters, not interlaced.
  const auto colours = static_cast<std::uint8_t>(shape.channels == 3 ? 2 : 0);
  header.insert(header.end(), {static_cast<std::uint8_t>(shape.bits), colours, 0, 0, 0});
  append_chunk("IHDR", header, out);
  append_chunk("IDAT", stream, out);
  append_chunk("IEND", {}, out);
}

}  // namespace millrace
