#include "src/io/image/helper/geometry.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

namespace millrace::helper {
namespace {

bool read_at(int fd, void* to, std::size_t size, std::uint64_t at) {
  return at < INT64_MAX && ::pread(fd, to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
}

// Numbers in the file's own byte order.
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

WebpGeometry webp_geometry(int fd) {
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

std::uint64_t tiff_rows_together(int fd) {
  constexpr std::uint64_t kHeight = 257, kRowsPerStrip = 278, kTileLength = 323;
  std::uint8_t head[4] = {};
  if (!read_at(fd, head, sizeof(head), 0)) return 0;
  TiffNumbers numbers(fd, head[0] == 'M');
  const bool big = numbers.at(2, 2) == 43;
  const std::uint64_t directory = big ? numbers.at(8, 8) : numbers.at(4, 4);
  const std::uint64_t count = std::min<std::uint64_t>(numbers.at(directory, big ? 8 : 2), 4096);
  const std::uint64_t entry_bytes = big ? 20 : 12;
  std::uint64_t height = 0, rows = UINT64_MAX;
  for (std::uint64_t i = 0; i < count && !numbers.failed; ++i) {
    const std::uint64_t entry = directory + (big ? 8 : 2) + i * entry_bytes;
    const std::uint64_t tag = numbers.at(entry, 2);
    if (tag != kHeight && tag != kRowsPerStrip && tag != kTileLength) continue;
    const std::uint64_t type = numbers.at(entry + 2, 2);
    const std::uint64_t value = numbers.at(entry + (big ? 12 : 8), type == 3 ? 2 : type == 16 ? 8 : 4);
    (tag == kHeight ? height : rows) = value;
  }
  return std::min(rows, height);
}

bool may_hold_its_samples(int fd) {
  // Numbers stand between white space, and comments go to the end of their lines.
  constexpr std::size_t kHead = 4096;
  char head[kHead] = {};
  const ssize_t got = ::pread(fd, head, kHead, 0);
  struct stat about {};
  if (got < 3 || head[0] != 'P' || head[1] < '1' || head[1] > '3' || ::fstat(fd, &about) != 0) return true;
  const std::string_view text(head, static_cast<std::size_t>(got));
  std::size_t at = 2;
  const auto number = [&] {
    while (at < text.size() && (text[at] == '#' || std::isspace(static_cast<unsigned char>(text[at])) != 0)) {
      at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
    }
    std::uint64_t value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value < 1'000'000'000; ++at)
      value = 10 * value + static_cast<std::uint64_t>(text[at] - '0');
    return value;
  };
  const std::uint64_t width = number(), height = number();
  // A bit needs no space before the next one.
  const std::uint64_t samples = width * height * (head[1] == '3' ? 3 : 1);
  const std::uint64_t left = static_cast<std::uint64_t>(about.st_size) - at;
  return samples == 0 || left >= (head[1] == '1' ? samples : 2 * samples - 1);
}

}  // namespace millrace::helper
