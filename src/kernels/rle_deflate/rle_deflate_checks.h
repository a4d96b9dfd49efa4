// Input: the pixels of an image, a run or a few at a time.
// Output: the checksum of their bytes, with which a stream ends.
// Never: reads each byte of a run.
//
// Adler-32 in closed form: n pixels of E bytes v0.. after (a, b) give a' = a + n s and b' = b + n E a + E s n (n - 1) /
// 2 + n w. Here s is the sum of the vi and w the sum of (E - i) vi. CRC-32 is linear: the register after n more bytes
// is its value after n zeros, exclusive or the register of the bytes alone. n zeros multiply the register by x^(8n),
// which is computed from tables for the powers of two in n.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/kernels/rle/pixels.h"

namespace millrace::rle_deflate {

// Number of literals that are processed together, and their entries: the byte is in the highest byte.
inline constexpr std::size_t kTogether = 6;
using Entries = std::array<std::uint32_t, kTogether>;

// Maximum length of a background run, exclusive, for which tables exist.
inline constexpr std::uint32_t kTypicalBackground = 2048;

struct AdlerSums {
  explicit AdlerSums(const rle::EncodedLevels& pixels) : bytes(pixels.bytes) {
    for (std::size_t k = 0; k < 256; ++k) {
      for (std::size_t i = 0; i < bytes; ++i) {
        level[k].sum += pixels.level[k][i];
        level[k].weighted += static_cast<std::uint32_t>(bytes - i) * pixels.level[k][i];
      }
    }
  }
  struct Sums {
    std::uint32_t sum = 0, weighted = 0;
  };
  std::size_t bytes;
  std::array<Sums, 256> level{};
};

class Adler {
 public:
  explicit Adler(const AdlerSums& sums) : sums_(&sums) {}

  // Largest number of pixels in brief_run().
  static constexpr std::uint64_t kBrief = 1 << 12;
  [[gnu::always_inline]] void brief_run(std::uint8_t level, std::uint64_t count) {
    const AdlerSums::Sums& pixel = sums_->level[level];
    const std::uint64_t bytes = sums_->bytes;
    b_ += count * bytes * a_ + bytes * pixel.sum * (count * (count - 1) / 2) + count * pixel.weighted;
    a_ += count * pixel.sum;
    // The sums are reduced before they could overflow.
    if ((a_ | b_) >> 40 != 0) reduce();
  }
  void run(std::uint8_t level, std::uint64_t count) {
    for (; count > kBrief; count -= kBrief) brief_run(level, kBrief);
    brief_run(level, count);
  }
  // Adds kTogether bytes, of which the first n count and the others are 0.
  [[gnu::always_inline]] void few(const Entries& entries, std::uint64_t n) {
    // Sums of sums replace multiplications, which are slow on vectors without 32-bit multiplication.
    std::uint32_t sum = 0, later = 0;
    for (const std::uint32_t entry : entries) {
      sum += entry >> 24;
      later += sum;
    }
    // `later` counts each byte as if kTogether of them were summed.
    b_ += n * a_ + later - sum * (kTogether - n);
    a_ += sum;
  }
  [[gnu::always_inline]] void zero() { b_ += a_; }

  static constexpr std::size_t kTrailer = 4;
  void finish(std::uint8_t* out) {
    reduce();
    const auto sum = static_cast<std::uint32_t>(b_ << 16 | a_);
    for (const int shift : {24, 16, 8, 0}) *out++ = static_cast<std::uint8_t>(sum >> shift);
  }

 private:
  static constexpr std::uint64_t kBase = 65521;
  [[gnu::always_inline]] void reduce() {
    a_ %= kBase;
    b_ %= kBase;
  }
  const AdlerSums* sums_;
  std::uint64_t a_ = 1, b_ = 0;
};

struct CrcTables {
  explicit CrcTables(const rle::EncodedLevels& pixels);

  // Returns the register after `count` zero bytes.
  std::uint32_t advance(std::uint32_t crc, std::uint64_t count) const;
  std::uint32_t advance_by_power(std::uint32_t crc, std::size_t power) const {
    const auto& t = powers[power];
    return t[0][crc & 255] ^ t[1][crc >> 8 & 255] ^ t[2][crc >> 16 & 255] ^ t[3][crc >> 24];
  }
  std::uint32_t byte(std::uint32_t crc, std::uint8_t value) const { return bytes[(crc ^ value) & 255] ^ crc >> 8; }

  rle::EncodedLevels pixels;
  std::array<std::uint32_t, 256> bytes{};
  // Effect of a byte followed by n others, at kTogether + n; zero below that.
  std::array<std::array<std::uint32_t, 256>, 2 * kTogether> after{};
  // By k: effect of 2^k zero bytes on each byte of the register.
  std::array<std::array<std::array<std::uint32_t, 256>, 4>, 32> powers{};
  // By number of background pixels: the register of these pixels alone.
  std::vector<std::uint32_t> background;
};

class Crc {
 public:
  explicit Crc(const CrcTables& tables) : tables_(&tables) {}

  [[gnu::always_inline]] void brief_run(std::uint8_t level, std::uint64_t count) {
    if (level != 0 || count >= tables_->background.size()) {
      *this = after_run(*this, level, count);
      return;
    }
    const std::uint64_t size = count * tables_->pixels.bytes;
    total_ += size;
    crc_ = tables_->advance(crc_, size) ^ tables_->background[count];
  }
  void run(std::uint8_t level, std::uint64_t count) { *this = after_run(*this, level, count); }
  [[gnu::always_inline]] void few(const Entries& entries, std::uint64_t n) {
    // Each byte, combined with its part of the register, is looked up as after the remaining bytes. So no lookup waits
    // for another.
    const auto* const after = tables_->after.data() + n + kTogether - 1;
    std::uint32_t sum = static_cast<std::uint32_t>(std::uint64_t{crc_} >> 8 * n);
    for (std::size_t i = 0; i < kTogether; ++i) {
      const std::uint32_t over = i < 4 ? crc_ >> 8 * i : 0;
      sum ^= (*(after - i))[(entries[i] >> 24 ^ over) & 255];
    }
    crc_ = sum;
    total_ += n;
  }
  [[gnu::always_inline]] void zero() {
    crc_ = tables_->byte(crc_, 0);
    ++total_;
  }

  static constexpr std::size_t kTrailer = 8;
  void finish(std::uint8_t* out) const {
    for (const std::uint32_t value : {~crc_, static_cast<std::uint32_t>(total_)}) {
      for (const int shift : {0, 8, 16, 24}) *out++ = static_cast<std::uint8_t>(value >> shift);
    }
  }

 private:
  // This rare case works on a copy, so that the members of other checksums stay in registers.
  [[gnu::noinline]] static Crc after_run(Crc crc, std::uint8_t level, std::uint64_t count) {
    const std::size_t most = crc.tables_->background.size() - 1;
    for (; level == 0 && count > most; count -= most) crc.brief_run(0, most);
    if (level == 0) {
      crc.brief_run(0, count);
      return crc;
    }
    const auto pixel = crc.tables_->pixels.of(level);
    crc.total_ += count * pixel.size();
    for (; count > 0; --count) {
      for (const std::uint8_t value : pixel) crc.crc_ = crc.tables_->byte(crc.crc_, value);
    }
    return crc;
  }

  const CrcTables* tables_;
  std::uint32_t crc_ = ~std::uint32_t{0};
  std::uint64_t total_ = 0;
};

}  // namespace millrace::rle_deflate
