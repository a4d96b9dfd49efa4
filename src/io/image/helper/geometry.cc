#include "src/io/image/helper/geometry.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace millrace::helper {
namespace {

bool read_at(int fd, void* to, std::size_t size, std::uint64_t at) {
  return at < INT64_MAX && ::pread(fd, to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
}

// Reads numbers in the file's own byte order.
class TiffNumbers {
 public:
  TiffNumbers(int fd, bool big_endian) : fd_(fd), big_endian_(big_endian) {}

  std::uint64_t at(std::uint64_t offset, std::size_t size) {
    std::uint8_t bytes[8] = {};
    if (!read_at(fd_, bytes, size, offset)) {
      failed = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[big_endian_ ? i : size - 1 - i];
    return value;
  }
  bool failed = false;

 private:
  int fd_;
  bool big_endian_;
};

}  // namespace

WebpGeometry read_webp_geometry(int fd) {
  WebpGeometry out;
  std::uint64_t at = 12;
  for (int chunks = 0; chunks < 64; ++chunks) {
    std::uint8_t c[18] = {};
    if (!read_at(fd, c, sizeof(c), at)) break;
    const auto number = [&](std::size_t i, int bytes) {
      std::uint32_t v = 0;
      for (int b = bytes; b-- > 0;) v = v << 8 | c[i + static_cast<std::size_t>(b)];
      return v;
    };
    const bool first = out.width == 0;
    if (std::memcmp(c, "VP8X", 4) == 0) {
      out.width = static_cast<int>(number(12, 3)) + 1;
      out.height = static_cast<int>(number(15, 3)) + 1;
    } else if (std::memcmp(c, "VP8L", 4) == 0) {
      const std::uint32_t bits = number(9, 4);
      if (first) out.width = static_cast<int>(bits & 0x3FFF) + 1;
      if (first) out.height = static_cast<int>(bits >> 14 & 0x3FFF) + 1;
      out.lossless = true;
      break;
    } else if (std::memcmp(c, "VP8 ", 4) == 0) {
      if (first) out.width = static_cast<int>(number(14, 2) & 0x3FFF);
      if (first) out.height = static_cast<int>(number(16, 2) & 0x3FFF);
      break;
    } else if (std::memcmp(c, "ANIM", 4) == 0) {
      break;
    }
    const std::uint64_t size = number(4, 4);
    at += 8 + size + (size & 1);
  }
  return out;
}

TiffGeometry read_tiff_geometry(int fd) {
  TiffGeometry out;
  std::uint8_t head[4] = {};
  if (!read_at(fd, head, sizeof(head), 0)) return out;
  TiffNumbers numbers(fd, head[0] == 'M');
  const bool big = numbers.at(2, 2) == 43;
  const std::uint64_t directory = big ? numbers.at(8, 8) : numbers.at(4, 4);
  const std::uint64_t count = std::min<std::uint64_t>(numbers.at(directory, big ? 8 : 2), 4096);
  const std::uint64_t entry_bytes = big ? 20 : 12;
  for (std::uint64_t i = 0; i < count && !numbers.failed; ++i) {
    const std::uint64_t entry = directory + (big ? 8 : 2) + i * entry_bytes;
    std::uint64_t* wanted = nullptr;
    switch (numbers.at(entry, 2)) {
      case 256:
        wanted = &out.width;
        break;
      case 257:
        wanted = &out.height;
        break;
      case 258:
        wanted = &out.bits;
        break;
      case 259:
        wanted = &out.compression;
        break;
      case 262:
        wanted = &out.photometric;
        break;
      case 273:
        wanted = &out.strips;
        break;
      case 274:
        wanted = &out.orientation;
        out.has_orientation = true;
        break;
      case 277:
        wanted = &out.samples;
        break;
      case 278:
        wanted = &out.rows_per_strip;
        break;
      case 284:
        wanted = &out.planar;
        break;
      case 323:
        wanted = &out.tile_rows;
        break;
      case 338:
        wanted = &out.extra_samples;
        break;
      case 700:
        out.has_xmp = true;
        continue;
      default:
        continue;
    }
    const std::uint64_t type = numbers.at(entry + 2, 2), values = numbers.at(entry + 4, big ? 8 : 4);
    if (wanted == &out.strips) {
      out.strips = values;
      continue;
    }
    // Takes the first value of several. Values that do not fit into the entry are stored at an offset.
    const std::size_t bytes = type == 3 ? 2 : type == 16 ? 8 : 4;
    const std::uint64_t here = entry + (big ? 12 : 8), room = big ? 8 : 4;
    *wanted = numbers.at(values * bytes > room ? numbers.at(here, big ? 8 : 4) : here, bytes);
  }
  return out;
}

std::uint64_t TiffGeometry::rows_per_block() const {
  const std::uint64_t rows = tile_rows > 0 ? tile_rows : rows_per_strip > 0 ? rows_per_strip : height;
  return std::min(rows, height);
}

bool TiffGeometry::matches_pillow() const {
  constexpr std::uint64_t kUncompressed = 1, kWhiteIsZero = 0, kRgb = 2, kMultipliedAlpha = 1;
  const bool planes = planar == 2 && samples > 1;
  if (has_xmp && !has_orientation) return false;
  if (samples > 1 && extra_samples == kMultipliedAlpha) return false;
  if (bits == 16 && samples == 1 && photometric == kWhiteIsZero) return false;
  if (planes && bits == 16 && compression == kUncompressed) return false;
  if (planes && photometric == kRgb && samples == 4 && extra_samples == 0) return false;
  return !(orientation >= 5 && samples == 1 && compression == kUncompressed && strips == 1 && tile_rows == 0);
}

}  // namespace millrace::helper
