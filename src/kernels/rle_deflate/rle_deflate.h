// Input: images as foreground runs, and the colours of their levels.
// Output: streams that zlib inflates to the images' pixels, made without writing a pixel.
// Never: searches for matches: a chart is runs of background with short runs of foreground between.
//
// A stream is RFC 1950 (zlib) or RFC 1952 (gzip) around one DEFLATE block (RFC 1951). Its Huffman code was made once
// for many images: literals, and runs as matches at the distance of one pixel, up to 258 bytes long. The code is part
// of every stream, so each stream can be read alone. Background is one run until the next foreground pixel, across row
// ends too if no row prefix lies between. Foreground is literals; after eight equal neighbours of a row, further equal
// pixels are a run. Checksums are computed a run at a time (rle_deflate_checks.h).
//
// Exactness: inflating gives the output of rle::paint. The bytes depend only on the pixels, the layout and the code.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/kernels/rle/pixels.h"
#include "src/kernels/rle_deflate/rle_deflate_checks.h"

namespace millrace::rle_deflate {

enum class Wrapper { zlib, gzip };

// Conversion of an image to bytes.
struct StreamLayout {
  rle::EncodedLevels pixels = rle::encoded_levels(rle::gray_table(255, 0));
  bool row_prefix = false;  // a 0 before every row: PNG's filter byte
  Wrapper wrapper = Wrapper::zlib;
};

// Number of occurrences of each symbol in images of one kind.
class SymbolHistogram {
 public:
  void count(const rle::Image& picture, const StreamLayout& layout);
  const std::array<std::uint32_t, 286>& symbols() const { return symbols_; }

 private:
  std::array<std::uint32_t, 286> symbols_{};
};

// A code in the form that kernels read.
struct CodeTables {
  std::vector<std::uint32_t> codes;   // arranged as body/layout.inc describes
  std::vector<std::uint32_t> header;  // begin of every stream: header_bits bits, the first one lowest
  std::uint32_t header_bits = 0;
};

// A Huffman code for literals and lengths, with codes of at most 9 bits. Every symbol has a code, so it can encode any
// image, and best those it was made for.
class DeflateCode {
 public:
  // Makes a code for images of one layout.
  DeflateCode(const SymbolHistogram& histogram, const StreamLayout& layout);
  ~DeflateCode();
  DeflateCode(DeflateCode&&) noexcept;

  // Compresses an image; the stream is at the front of `memory`.
  std::span<const std::uint8_t> compress(const rle::Image& picture, Buffer<std::uint8_t>& memory) const;

  const StreamLayout& layout() const { return layout_; }
  // Returns the tables for images of this width.
  CodeTables tables(std::uint64_t width) const;

  struct Bits {
    std::uint64_t bits = 0;
    std::uint32_t count = 0;
  };

 private:
  template <typename Check>
  friend class BlockEncoder;
  friend class Stream;
  Bits background_bits(std::uint32_t count) const;

  StreamLayout layout_;
  std::array<Bits, 256> literals_{};  // by byte value
  std::array<Bits, 259> matches_{};   // matches of 3 to 258 bytes, including the distance
  Bits end_;
  // By level: bits 0 to 15 hold the literal's code, bits 16 to 23 its length, bits 24 to 31 the byte itself.
  std::array<std::uint32_t, 256> levels_{};
  // By level: the literals of a pixel's bytes, combined in groups of four.
  std::array<std::array<Bits, rle::EncodedLevels::kMaxBytes / 4>, 256> pixels_{};
  // By number of background pixels: their bits, and from bit 58 on the number of bits; 0 if there are too many. Half as
  // large as Bits, so that the table stays in a core's first-level cache.
  std::vector<std::uint64_t> background_;
  // Begin of every stream: whole bytes, and the bits after them.
  std::vector<std::uint8_t> header_;
  Bits header_rest_;
  // Tables for the checksum; only those of the wrapper exist.
  std::unique_ptr<const AdlerSums> adler_;
  std::unique_ptr<const CrcTables> crc_;
};

// Returns optimal code lengths of at most `longest` bits (the package-merge algorithm: Larmore and Hirschberg 1990). A
// symbol that does not occur has length 0; a single symbol has length 1.
std::vector<std::uint8_t> code_lengths(std::span<const std::uint32_t> counts, int longest);

}  // namespace millrace::rle_deflate
