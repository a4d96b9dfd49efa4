// Input: the pixels of a picture, a run or a few at a time.
// Output: the checksum of their bytes that a stream ends with.
// Never: looks at each byte of a run.
//
// Adler-32 in closed form: n pixels of E bytes v0.. after (a, b) give a' = a + n s and
// b' = b + n E a + E s n (n - 1) / 2 + n w, s being the sum of the v and w that of (E - i) vi.
// CRC-32 is linear: the register after n more bytes is what it is after n zeros, exclusive or what the bytes alone
// give. n zeros multiply it by x^(8n), which is put together from tables for the powers of two in n.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/kernels/rle/pixels.h"

namespace millrace::rle_deflate {

// Literals that are put together, and their entries: byte in the highest byte.
inline constexpr std::size_t kTogether = 6;
using Entries = std::array<std::uint32_t, kTogether>;

// Tables know what so many pixels of paper, and fewer, give.
inline constexpr std::uint32_t kUsualPaper = 2048;

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

  // Of at most kBrief pixels.
  static constexpr std::uint64_t kBrief = 1 << 12;
  [[gnu::always_inline]] void brief_run(std::uint8_t level, std::uint64_t count) {
    const AdlerSums::Sums& pixel = sums_->level[level];
    const std::uint64_t bytes = sums_->bytes;
    b_ += count * bytes * a_ + bytes * pixel.sum * (count * (count - 1) / 2) + count * pixel.weighted;
    a_ += count * pixel.sum;
    // Reduced when the sums might not hold another one.
    if ((a_ | b_) >> 40 != 0) reduce();
  }
  void run(std::uint8_t level, std::uint64_t count) {
    for (; count > kBrief; count -= kBrief) brief_run(level, kBrief);
    brief_run(level, count);
  }
  // kTogether bytes, of which the first n count and the others are 0.
  [[gnu::always_inline]] void few(const Entries& entries, std::uint64_t n) {
    // Sums of sums: the multiplications that they stand for are slow where vectors have none of 32 bits.
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

  // The register after `count` zero bytes.
  std::uint32_t advance(std::uint32_t crc, std::uint64_t count) const;
  std::uint32_t advance_by_power(std::uint32_t crc, std::size_t power) const {
    const auto& t = powers[power];
    return t[0][crc & 255] ^ t[1][crc >> 8 & 255] ^ t[2][crc >> 16 & 255] ^ t[3][crc >> 24];
  }
  std::uint32_t byte(std::uint32_t crc, std::uint8_t value) const { return bytes[(crc ^ value) & 255] ^ crc >> 8; }

  rle::EncodedLevels pixels;
  std::array<std::uint32_t, 256> bytes{};
  // A byte that n others follow, at kTogether + n; below, nothing.
  std::array<std::array<std::uint32_t, 256>, 2 * kTogether> after{};
  // By 2^k zero bytes: what each byte of the register becomes.
  std::array<std::array<std::array<std::uint32_t, 256>, 4>, 32> powers{};
  // What so many pixels of paper give alone.
  std::vector<std::uint32_t> paper;
};

class Crc {
 public:
  explicit Crc(const CrcTables& tables) : tables_(&tables) {}

  [[gnu::always_inline]] void brief_run(std::uint8_t level, std::uint64_t count) {
    if (level != 0 || count >= tables_->paper.size()) {
      *this = after_run(*this, level, count);
      return;
    }
    const std::uint64_t size = count * tables_->pixels.bytes;
    total_ += size;
    crc_ = tables_->advance(crc_, size) ^ tables_->paper[count];
  }
  void run(std::uint8_t level, std::uint64_t count) { *this = after_run(*this, level, count); }
  [[gnu::always_inline]] void few(const Entries& entries, std::uint64_t n) {
    // Each byte, and what the register has over it, as it is after the bytes that follow: no lookup waits for another.
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
  // Rare: on a copy, so that the others stay in registers.
  [[gnu::noinline]] static Crc after_run(Crc crc, std::uint8_t level, std::uint64_t count) {
    const std::size_t most = crc.tables_->paper.size() - 1;
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
