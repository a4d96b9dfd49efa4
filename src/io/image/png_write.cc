#include "src/io/image/png_write.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/memory/buffer.h"

namespace millrace {

namespace {

// PNG, 11.3.4.3: a keyword, a zero, a text.
constexpr std::string_view kMaker("Software\0millrace", 17);
// The signature and the header's chunk.
constexpr std::size_t kHeader = 8 + 25;

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

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr std::uint8_t kGray = 0, kRgb = 2, kByPalette = 3;

void append_header(const PngShape& shape, std::uint8_t colours, std::vector<std::uint8_t>& out) {
  std::vector<std::uint8_t> header;
  append_number(shape.width, header);
  append_number(shape.height, header);
  // Deflate, the one set of filters, not interlaced.
  header.insert(header.end(), {static_cast<std::uint8_t>(shape.bits), colours, 0, 0, 0});
  append_chunk("IHDR", header, out);
}

}  // namespace

void write_png(const Output& output, int width, int height, int channels, std::span<const std::uint8_t> pixels) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  // Room for the worst case, of which only what is used takes memory.
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  Buffer<std::uint8_t> out(bytes);
  if (png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels.data(), 0, nullptr) == 0) {
    throw Failure(ErrorCode::internal, std::string("the PNG could not be made: ") + image.message, output.path());
  }
  std::vector<std::uint8_t> maker;
  append_chunk("tEXt", {reinterpret_cast<const std::uint8_t*>(kMaker.data()), kMaker.size()}, maker);
  OutputFile file(output);
  file.write(std::as_bytes(std::span(out.data(), kHeader)));
  file.write(std::as_bytes(std::span(maker)));
  file.write(std::as_bytes(std::span(out.data() + kHeader, bytes - kHeader)));
  file.commit();
}

struct PalettePng::Stream {
  z_stream deflate{};
  std::vector<std::uint8_t> row;
};

PalettePng::PalettePng(const Output& output, int width, int height, std::span<const Color> palette)
    : file_(output), stream_(std::make_unique<Stream>()) {
  out_.assign(kSignature.begin(), kSignature.end());
  append_header({static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 1, 8}, kByPalette, out_);
  append_chunk("tEXt", {reinterpret_cast<const std::uint8_t*>(kMaker.data()), kMaker.size()}, out_);
  append_chunk("PLTE", {palette.front().data(), palette.size() * 3}, out_);
  // Runs of one number: the fastest level finds them, too.
  if (deflateInit(&stream_->deflate, 1) != Z_OK) throw Failure(ErrorCode::internal, "zlib does not start", "", "");
  // A row's filter, which is none.
  stream_->row.assign(static_cast<std::size_t>(width) + 1, 0);
}

PalettePng::~PalettePng() { deflateEnd(&stream_->deflate); }

void PalettePng::append(std::span<const std::uint8_t> row) {
  std::copy(row.begin(), row.end(), stream_->row.begin() + 1);
  stream_->deflate.next_in = stream_->row.data();
  stream_->deflate.avail_in = static_cast<uInt>(stream_->row.size());
  compress(false);
}

void PalettePng::compress(bool last) {
  std::array<std::uint8_t, 64 * 1024> bytes;
  int code = Z_OK;
  do {
    stream_->deflate.next_out = bytes.data();
    stream_->deflate.avail_out = static_cast<uInt>(bytes.size());
    code = deflate(&stream_->deflate, last ? Z_FINISH : Z_NO_FLUSH);
    const std::size_t got = bytes.size() - stream_->deflate.avail_out;
    if (got > 0) append_chunk("IDAT", {bytes.data(), got}, out_);
  } while (last ? code != Z_STREAM_END : stream_->deflate.avail_in > 0 || stream_->deflate.avail_out == 0);
  file_.write(std::as_bytes(std::span(out_)));
  out_.clear();
}

void PalettePng::finish() {
  compress(true);
  append_chunk("IEND", {}, out_);
  file_.write(std::as_bytes(std::span(out_)));
  file_.commit();
}

bool is_own_png(std::span<const std::uint8_t> front) {
  // After the header, the chunk's length and name.
  constexpr std::size_t kText = kHeader + 8;
  return front.size() >= kText + kMaker.size() && std::memcmp(front.data() + kText, kMaker.data(), kMaker.size()) == 0;
}

void append_png(const PngShape& shape, std::span<const std::uint8_t> stream, std::vector<std::uint8_t>& out) {
  out.insert(out.end(), kSignature.begin(), kSignature.end());
  append_header(shape, shape.channels == 3 ? kRgb : kGray, out);
  append_chunk("IDAT", stream, out);
  append_chunk("IEND", {}, out);
}

}  // namespace millrace
