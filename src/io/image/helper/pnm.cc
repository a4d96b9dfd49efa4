// PBM, PGM and PPM decoder, for text and binary files, with the rules of Pillow's PpmImagePlugin. Samples are scaled
// from their maximum to 255; grays of more than a byte are scaled to 65535 and then clipped.
#include <algorithm>
#include <cmath>
#include <vector>

#include "src/base/error.h"
#include "src/io/image/helper/decoder.h"
#include "src/io/image/helper/file_bytes.h"

namespace millrace::helper {

namespace {

bool is_space(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(std::uint8_t c) { return c >= '0' && c <= '9'; }

// Reads numbers between white space, with comments from # to the end of their line.
class PnmTokens {
 public:
  explicit PnmTokens(ByteStream& stream) : stream_(stream) {}

  // Returns the next byte that is neither space nor part of a comment.
  std::optional<std::uint8_t> next_mark() {
    auto c = stream_.next();
    while (c && (is_space(*c) || *c == '#')) {
      if (*c == '#') {
        while (c && *c != '\n' && *c != '\r') c = stream_.next();
      } else {
        c = stream_.next();
      }
    }
    return c;
  }
  // Also consumes the byte after the number, which in a header is the one space before the samples.
  std::optional<std::uint32_t> number() {
    auto c = next_mark();
    if (!c || !is_digit(*c)) return std::nullopt;
    std::uint64_t value = 0;
    for (; c && is_digit(*c); c = stream_.next()) value = std::min<std::uint64_t>(10 * value + (*c - '0'), UINT32_MAX);
    if (c && !is_space(*c) && *c != '#') return std::nullopt;
    // A comment may follow a number directly.
    if (c && *c == '#') {
      while (c && *c != '\n' && *c != '\r') c = stream_.next();
    }
    return static_cast<std::uint32_t>(value);
  }

 private:
  ByteStream& stream_;
};

struct PnmHeader {
  int kind = 0;  // the digit after P
  std::uint32_t width = 0, height = 0, max_value = 1;
  bool bits() const { return kind == 1 || kind == 4; }
  bool text() const { return kind <= 3; }
  std::uint64_t channels() const { return kind == 3 || kind == 6 ? 3 : 1; }
  std::uint64_t row_samples() const { return width * channels(); }
  // Bytes of a row in a binary file.
  std::uint64_t row_bytes() const {
    return bits() ? (std::uint64_t{width} + 7) / 8 : row_samples() * (max_value > 255 ? 2 : 1);
  }
};

bool read_pnm_header(ByteStream& stream, PnmHeader& out) {
  if (stream.next() != 'P') return false;
  const auto kind = stream.next();
  if (!kind || *kind < '1' || *kind > '6') return false;
  out.kind = *kind - '0';
  PnmTokens words(stream);
  const auto width = words.number(), height = words.number();
  if (!width || !height || *width == 0 || *height == 0 || *width > INT32_MAX || *height > INT32_MAX) return false;
  out.width = *width;
  out.height = *height;
  if (out.bits()) return true;
  const auto max_value = words.number();
  if (!max_value || *max_value == 0 || *max_value > 65535) return false;
  out.max_value = *max_value;
  return true;
}

// Table of the 8-bit level for every sample value.
std::vector<std::uint8_t> make_level_table(const PnmHeader& header, bool clips) {
  std::vector<std::uint8_t> out(header.max_value + std::size_t{1});
  const double to = clips ? 65535 : 255;
  for (std::size_t v = 0; v < out.size(); ++v) {
    const double level = std::nearbyint(static_cast<double>(v) / static_cast<double>(header.max_value) * to);
    // In a bitmap, 1 is black.
    out[v] =
        header.bits() ? static_cast<std::uint8_t>(v == 0 ? 255 : 0) : static_cast<std::uint8_t>(std::min(level, 255.0));
  }
  return out;
}

// Reads a picture's rows, from the top.
class Samples {
 public:
  Samples(const FileBytes& bytes, ByteStream& stream, const PnmHeader& header, bool clips)
      : bytes_(bytes), stream_(stream), header_(header), at_(stream.at()), levels_(make_level_table(header, clips)) {
    if (!header.text()) raw_.resize(header.row_bytes());
  }

  void row(std::uint8_t* out) {
    const std::uint64_t samples = header_.row_samples();
    if (!header_.text()) {
      missing_ |= bytes_.read(at_, raw_.data(), raw_.size()) < raw_.size();
      at_ += raw_.size();
    }
    PnmTokens words(stream_);
    for (std::uint64_t i = 0; i < samples; ++i) out[i] = levels_[std::min(sample(words, i), header_.max_value)];
  }
  bool missing() const { return missing_; }
  // Offset behind the rows that were read.
  std::uint64_t end() const { return header_.text() ? stream_.at() : at_; }

 private:
  std::uint32_t sample(PnmTokens& words, std::uint64_t i) {
    if (header_.kind == 4) return raw_[i / 8] >> (7 - i % 8) & 1;
    if (!header_.text() && header_.max_value > 255) return raw_[2 * i] * 256U + raw_[2 * i + 1];
    if (!header_.text()) return raw_[i];
    if (missing_) return 0;
    if (header_.kind == 1) {
      // Bits need no space between them.
      const auto mark = words.next_mark();
      missing_ = !mark || (*mark != '0' && *mark != '1');
      return missing_ ? 0 : *mark - '0';
    }
    const auto number = words.number();
    missing_ = !number || *number > header_.max_value;
    return missing_ ? 0 : *number;
  }

  const FileBytes& bytes_;
  ByteStream& stream_;
  const PnmHeader& header_;
  std::uint64_t at_;
  const std::vector<std::uint8_t> levels_;
  std::vector<std::uint8_t> raw_;
  bool missing_ = false;
};

// True where another picture follows in the same file.
bool begins_picture(const FileBytes& bytes, std::uint64_t at) {
  ByteStream stream(bytes, at);
  auto c = stream.next();
  while (c && is_space(*c)) c = stream.next();
  const auto kind = stream.next();
  return c == 'P' && kind && *kind >= '1' && *kind <= '7';
}

}  // namespace

void decode_pnm(const DecodeJob& job, DecoderChannel& channel) {
  const FileBytes bytes(job.fd);
  ByteStream stream(bytes, 0);
  PnmHeader header;
  const auto bad = [&](const char* why) { channel.fail(static_cast<int>(ErrorCode::bad_data), why); };
  if (!read_pnm_header(stream, header)) return bad("not a valid PBM, PGM or PPM");
  const std::uint64_t left = bytes.size() - std::min(bytes.size(), stream.at());
  // In text, a bit takes at least one byte, and a number at least two, except for the last.
  const std::uint64_t samples = header.row_samples() * header.height;
  if (header.text() && (header.kind == 1 ? left : left / 2 + 1) < samples) {
    return bad("the file is too short for the width and height in its header");
  }
  if (left < header.row_bytes() && !header.text()) return bad("the file is truncated before its first pixel");
  DecoderMessage about{};
  about.width = about.full_width = static_cast<int>(header.width);
  about.height = about.full_height = static_cast<int>(header.height);
  about.channels = static_cast<int>(header.channels());
  about.exact = 1;
  const bool clips = header.channels() == 1 && header.max_value > 255 && !job.wide_gray;
  about.clips = clips ? 1 : 0;
  about.decoder_memory = header.row_bytes() + (1U << 20);
  if (!channel.begin(about)) return;
  Samples rows(bytes, stream, header, clips);
  const auto height = static_cast<int>(header.height);
  for (int y = 0; y < height;) {
    const int count = std::min(channel.max_rows(), height - y);
    for (int r = 0; r < count; ++r) rows.row(channel.strip() + static_cast<std::uint64_t>(r) * header.row_samples());
    if (!channel.rows(count)) return channel.end(true, "cancelled");
    y += count;
  }
  UnshownData unshown;
  unshown.depth = header.max_value > 255;
  unshown.pages = !rows.missing() && begins_picture(bytes, rows.end());
  channel.end(rows.missing(), rows.missing() ? "the file is truncated" : "", unshown);
}

}  // namespace millrace::helper
