#include "src/kernels/rle_deflate/rle_deflate_checks.h"

#include <bit>

namespace millrace::rle_deflate {

CrcTables::CrcTables(const rle::EncodedLevels& given) : pixels(given), background(kTypicalBackground) {
  for (std::uint32_t v = 0; v < 256; ++v) {
    std::uint32_t crc = v;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320 & (0 - (crc & 1)));  // RFC 1952, 8
    bytes[v] = crc;
  }
  for (std::size_t n = 0; n < kTogether; ++n) {
    for (std::uint32_t v = 0; v < 256; ++v) {
      after[kTogether + n][v] = n == 0 ? bytes[v] : byte(after[kTogether + n - 1][v], 0);
    }
  }
  for (std::size_t k = 0; k < powers.size(); ++k) {
    for (std::uint32_t part = 0; part < 4; ++part) {
      for (std::uint32_t v = 0; v < 256; ++v) {
        const std::uint32_t crc = v << 8 * part;
        powers[k][part][v] = k == 0 ? byte(crc, 0) : advance_by_power(advance_by_power(crc, k - 1), k - 1);
      }
    }
  }
  for (std::size_t n = 1; n < background.size(); ++n) {
    background[n] = background[n - 1];
    for (const std::uint8_t value : pixels.of(0)) background[n] = byte(background[n], value);
  }
}

std::uint32_t CrcTables::advance(std::uint32_t crc, std::uint64_t count) const {
  for (; count != 0; count &= count - 1) {
    crc = advance_by_power(crc, static_cast<std::size_t>(std::countr_zero(count)));
  }
  return crc;
}

}  // namespace millrace::rle_deflate
