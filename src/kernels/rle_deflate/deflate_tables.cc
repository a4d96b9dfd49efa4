// Tables of a code in the form that kernels read: body/layout.inc.
#include <algorithm>

#include "src/kernels/rle_deflate/body/layout.inc"
#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::rle_deflate {

CodeTables DeflateCode::tables(std::uint64_t width) const {
  CodeTables out;
  out.codes.resize(DEFLATE_CODES);
  const auto packed = [](const Bits& code) {
    return static_cast<std::uint32_t>(code.bits) | code.count << DEFLATE_COUNT;
  };
  const rle::EncodedLevels& pixels = layout_.pixels;
  for (std::size_t level = 0; level < 256; ++level) {
    for (std::size_t i = 0; i < pixels.bytes; ++i) {
      const std::uint8_t value = pixels.level[level][i];
      const std::size_t at = level * DEFLATE_MOST_BYTES + i;
      out.codes[DEFLATE_LITERALS + at] = packed(literals_[value]);
      out.codes[DEFLATE_VALUES + at] = value;
      out.codes[DEFLATE_PIXELS + level] += literals_[value].count;
      out.codes[DEFLATE_SUMS + level] += value;
      out.codes[DEFLATE_WEIGHTED + level] += static_cast<std::uint32_t>(pixels.bytes - i) * value;
    }
  }
  for (std::size_t n = 0; n < matches_.size(); ++n) out.codes[DEFLATE_MATCHES + n] = packed(matches_[n]);
  out.codes[DEFLATE_END] = packed(end_);
  out.codes[DEFLATE_ZERO] = packed(literals_[0]);
  if (crc_) {
    std::copy(crc_->bytes.begin(), crc_->bytes.end(), out.codes.begin() + DEFLATE_REMAINDERS);
    for (std::uint32_t part = 0; part < 4; ++part) {
      for (std::uint32_t v = 0; v < 256; ++v) {
        out.codes[DEFLATE_ROW + 256 * part + v] = crc_->advance(v << 8 * part, width * pixels.bytes);
      }
    }
  }
  out.header_bits = static_cast<std::uint32_t>(8 * header_.size()) + header_rest_.count;
  out.header.resize((out.header_bits + 31) / 32);
  for (std::size_t i = 0; i < header_.size(); ++i) out.header[i / 4] |= std::uint32_t{header_[i]} << 8 * (i % 4);
  if (header_rest_.count > 0) {
    const std::size_t i = header_.size();
    out.header[i / 4] |= static_cast<std::uint32_t>(header_rest_.bits) << 8 * (i % 4);
  }
  return out;
}

}  // namespace millrace::rle_deflate
