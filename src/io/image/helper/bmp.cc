// BMP decoder: headers of Windows and OS/2, palettes, run lengths, 16, 24 and 32 bits. Where the format leaves a
// choice, it follows Pillow's BmpImagePlugin. That concerns the offset of the pixels, the conversion of 5 and 6 bits to
// 8, and pixels that run lengths skip. Alpha is dropped.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "src/base/error.h"
#include "src/io/image/helper/decoder.h"
#include "src/io/image/helper/file_bytes.h"

namespace millrace::helper {

namespace {

using Colour = std::array<std::uint8_t, 3>;
enum Compression : std::uint32_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3 };

// Bit mask of one colour channel in a 16- or 32-bit pixel.
struct Mask {
  std::uint32_t bits = 0;
  std::uint8_t operator()(std::uint32_t pixel) const {
    if (bits == 0) return 0;
    const int shift = std::countr_zero(bits);
    const std::uint64_t value = (pixel & bits) >> shift, most = bits >> shift;
    return static_cast<std::uint8_t>(value * 255 / most);
  }
};

struct BmpHeader {
  std::int64_t width = 0, height = 0;
  bool downwards = false;  // the first row is the top one
  int bits = 0;
  std::uint32_t compression = kNone;
  std::uint64_t pixels_at = 0;
  std::array<Mask, 3> masks;
  std::array<Colour, 256> palette{};
};

// True for a palette that holds all grays in order. Then an index is itself the level, even beyond the palette's end.
bool is_gray_ramp(const std::vector<std::uint8_t>& raw, std::size_t entry, std::size_t colours) {
  for (std::size_t i = 0; i < colours; ++i) {
    const auto level = static_cast<std::uint8_t>(colours == 2 ? 255 * i : i);
    for (std::size_t c = 0; c < 3; ++c) {
      if (i * entry + c >= raw.size() || raw[i * entry + c] != level) return false;
    }
  }
  return true;
}

void read_palette(const FileBytes& bytes, std::uint64_t at, std::size_t entry, std::size_t colours, BmpHeader& out) {
  std::vector<std::uint8_t> raw(entry * colours);
  raw.resize(bytes.read(at, raw.data(), raw.size()));
  if (is_gray_ramp(raw, entry, colours)) {
    for (std::size_t i = 0; i < 256; ++i) {
      out.palette[i].fill(static_cast<std::uint8_t>(colours <= 2 && i > 0 ? 255 : i));
    }
    return;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(256, raw.size() / entry); ++i) {
    out.palette[i] = {raw[i * entry + 2], raw[i * entry + 1], raw[i * entry]};
  }
}

// Returns the reason why the header cannot be read; nothing where it can.
std::optional<std::string> read_bmp_header(const FileBytes& bytes, BmpHeader& out) {
  const std::uint32_t header = bytes.number(14, 4);
  std::uint64_t at = 14 + std::uint64_t{header};
  std::size_t entry = 4;
  std::uint64_t colours = 0;
  if (bytes.number(0, 2) != 0x4D42 || bytes.size() < at) return "not a valid BMP";
  out.pixels_at = bytes.number(10, 4);
  if (header == 12) {  // OS/2 1
    out.width = bytes.number(18, 2);
    out.height = bytes.number(20, 2);
    out.bits = static_cast<int>(bytes.number(24, 2));
    entry = 3;
  } else if (header == 40 || header == 52 || header == 56 || header == 64 || header == 108 || header == 124) {
    out.width = bytes.number(18, 4);
    out.height = bytes.number(22, 4);
    out.downwards = out.height >> 24 == 0xFF;
    if (out.downwards) out.height = (std::int64_t{1} << 32) - out.height;
    out.bits = static_cast<int>(bytes.number(28, 2));
    out.compression = bytes.number(30, 4);
    colours = bytes.number(46, 4);
  } else {
    return "its type of BMP header is not supported";
  }
  if (out.width <= 0 || out.height <= 0 || out.width > INT32_MAX || out.height > INT32_MAX) {
    return "its width or height is not valid";
  }
  const bool indexed = out.bits == 1 || out.bits == 4 || out.bits == 8;
  if (!indexed && out.bits != 16 && out.bits != 24 && out.bits != 32)
    return "its bits per pixel are not valid in a BMP";
  if (out.compression > kMasks || ((out.compression == kRuns8 || out.compression == kRuns4) && !indexed)) {
    return "its BMP compression is not supported";
  }
  out.masks = out.bits == 16 ? std::array<Mask, 3>{{{0x7C00}, {0x3E0}, {0x1F}}}
                             : std::array<Mask, 3>{{{0xFF0000}, {0xFF00}, {0xFF}}};
  if (out.compression == kMasks) {
    const std::uint64_t masks_at = header >= 52 && header != 64 ? 54 : at;
    std::array<Mask, 3> masks;
    for (std::size_t c = 0; c < 3; ++c) masks[c].bits = bytes.number(masks_at + 4 * c, 4);
    // Masks that are all zero mean the default masks.
    if (masks[0].bits != 0 || masks[1].bits != 0 || masks[2].bits != 0) out.masks = masks;
    if (masks_at == at) at += 12;
    if (indexed) return "it has both a palette and color masks, which is not valid in a BMP";
  }
  if (indexed) {
    if (colours == 0) colours = std::uint64_t{1} << out.bits;
    // Some writers forget to count the palette in the offset of the pixels.
    if (out.pixels_at == 14 + std::uint64_t{header}) out.pixels_at += entry * colours;
    if (colours > 65536) return "its palette is too large (the limit is 65,536 colors)";
    read_palette(bytes, at, entry, static_cast<std::size_t>(colours), out);
    at += entry * colours;
  }
  if (out.pixels_at == 0) out.pixels_at = at;
  return std::nullopt;
}

// Unpacks the indexes of a run-length encoded picture, in the file's order of rows. Skipped pixels have index 0. The
// result is false when the file ends before the picture does.
class Runs {
 public:
  Runs(const FileBytes& bytes, const BmpHeader& header, std::vector<std::uint8_t>& out)
      : stream_(bytes, header.pixels_at),
        nibbles_(header.compression == kRuns4),
        width_(static_cast<std::size_t>(header.width)),
        most_(width_ * static_cast<std::size_t>(header.height)),
        out_(out) {
    out_.assign(most_, 0);
  }

  bool decode() {
    while (at_ < most_) {
      const auto count = stream_.next(), value = stream_.next();
      if (!count || !value) return false;
      if (*count > 0) {
        run(*count, *value);
      } else if (*value == 0) {
        at_ = (at_ + width_ - 1) / width_ * width_;
        x_ = 0;
      } else if (*value == 1) {
        return false;
      } else if (*value == 2) {
        const auto right = stream_.next(), up = stream_.next();
        if (!right || !up) return false;
        at_ = std::min(most_, at_ + *right + *up * width_);
        x_ = at_ % width_;
      } else if (!literal(*value)) {
        return at_ == most_;
      }
    }
    return true;
  }

 private:
  void run(std::size_t count, std::uint8_t value) {
    // A run ends with its row.
    if (x_ + count > width_) count = width_ > x_ ? width_ - x_ : 0;
    for (std::size_t k = 0; k < count && at_ < most_; ++k) {
      out_[at_++] = !nibbles_ ? value : k % 2 == 0 ? value >> 4 : value & 15;
    }
    x_ += count;
  }
  bool literal(std::size_t count) {
    const std::size_t wanted = std::min(count, most_ - at_);
    for (std::size_t k = 0; k < wanted; k += nibbles_ ? 2 : 1) {
      const auto byte = stream_.next();
      if (!byte) return false;
      out_[at_++] = nibbles_ ? *byte >> 4 : *byte;
      if (nibbles_ && k + 1 < wanted) out_[at_++] = *byte & 15;
    }
    x_ += count;
    // Literal runs are padded to an even number of bytes.
    if (stream_.at() % 2 != 0) stream_.next();
    return true;
  }

  ByteStream stream_;
  const bool nibbles_;
  const std::size_t width_, most_;
  std::size_t at_ = 0, x_ = 0;
  std::vector<std::uint8_t>& out_;
};

// Converts one row of the file to RGB.
void convert(const BmpHeader& header, const std::uint8_t* row, std::uint8_t* to) {
  for (std::int64_t i = 0; i < header.width; ++i, to += 3) {
    const auto x = static_cast<std::size_t>(i);
    const auto put = [to](const Colour& colour) { std::copy(colour.begin(), colour.end(), to); };
    switch (header.bits) {
      case 1:
        put(header.palette[row[x / 8] >> (7 - x % 8) & 1]);
        break;
      case 4:
        put(header.palette[x % 2 == 0 ? row[x / 2] >> 4 : row[x / 2] & 15]);
        break;
      case 8:
        put(header.palette[row[x]]);
        break;
      case 24:
        put({row[3 * x + 2], row[3 * x + 1], row[3 * x]});
        break;
      default: {
        std::uint32_t pixel = row[x * 2] | static_cast<std::uint32_t>(row[x * 2 + 1]) << 8;
        if (header.bits == 32) {
          pixel = row[x * 4] | static_cast<std::uint32_t>(row[x * 4 + 1]) << 8 |
                  static_cast<std::uint32_t>(row[x * 4 + 2]) << 16 | static_cast<std::uint32_t>(row[x * 4 + 3]) << 24;
        }
        for (std::size_t c = 0; c < 3; ++c) to[c] = header.masks[c](pixel);
      }
    }
  }
}

// Sends all rows from the top. `row(y)` returns the bytes of row y as they are stored in the file.
template <typename Row>
bool send_rows(const BmpHeader& header, DecoderChannel& channel, const Row& row) {
  const auto height = static_cast<int>(header.height);
  const std::size_t pitch = 3 * static_cast<std::size_t>(header.width);
  for (int y = 0; y < height;) {
    const int count = std::min(channel.max_rows(), height - y);
    for (int r = 0; r < count; ++r) convert(header, row(y + r), channel.strip() + static_cast<std::size_t>(r) * pitch);
    if (!channel.rows(count)) return false;
    y += count;
  }
  return true;
}

}  // namespace

void decode_bmp(const DecodeJob& job, DecoderChannel& channel) {
  const FileBytes bytes(job.fd);
  BmpHeader header;
  if (const auto why = read_bmp_header(bytes, header)) return channel.fail(static_cast<int>(ErrorCode::bad_data), *why);
  const bool runs = header.compression == kRuns8 || header.compression == kRuns4;
  const auto width = static_cast<std::uint64_t>(header.width), height = static_cast<std::uint64_t>(header.height);
  const std::uint64_t stride = (width * static_cast<std::uint64_t>(header.bits) + 31) / 32 * 4;
  DecoderMessage about{};
  about.width = about.full_width = static_cast<int>(width);
  about.height = about.full_height = static_cast<int>(height);
  about.channels = 3;
  about.exact = 1;
  about.decoder_memory = (runs ? width * height : stride) + (1U << 20);
  // The padding after the last pixel of a row may be missing in the last row.
  const std::uint64_t used = (width * static_cast<std::uint64_t>(header.bits) + 7) / 8;
  if (bytes.size() < header.pixels_at + (runs ? 2 : used)) {
    return channel.fail(static_cast<int>(ErrorCode::bad_data), "the file is truncated before its first pixel");
  }
  if (!channel.begin(about)) return;
  const auto from_top = [&](int y) {
    return header.downwards ? static_cast<std::uint64_t>(y) : height - 1 - static_cast<std::uint64_t>(y);
  };
  bool damaged = false, sent = false;
  UnshownData unshown;
  if (runs) {
    std::vector<std::uint8_t> indexes;
    damaged = !Runs(bytes, header, indexes).decode();
    header.bits = 8;  // the unpacked indexes have 8 bits
    sent = send_rows(header, channel, [&](int y) { return indexes.data() + from_top(y) * width; });
  } else {
    std::vector<std::uint8_t> row(stride);
    std::optional<std::uint8_t> fourth;
    sent = send_rows(header, channel, [&](int y) {
      damaged |= bytes.read(header.pixels_at + from_top(y) * stride, row.data(), stride) < used;
      // A fourth byte that varies between pixels may be transparency, which these rows do not show.
      for (std::size_t x = 3; header.bits == 32 && !unshown.transparency && x < row.size(); x += 4) {
        if (!fourth) fourth = row[x];
        unshown.transparency = row[x] != *fourth;
      }
      return row.data();
    });
  }
  if (!sent) return channel.end(true, "cancelled");
  channel.end(damaged, damaged ? "the file is truncated" : "", unshown);
}

}  // namespace millrace::helper
