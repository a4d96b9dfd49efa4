// Input: pictures of ink, and how their levels look.
// Output: streams that zlib inflates to the pictures' pixels, without a pixel having been written.
// Never: searches for matches: a chart is runs of paper with short pieces of ink between.
//
// A stream is RFC 1950 (zlib) or RFC 1952 (gzip) around one DEFLATE block (RFC 1951) whose Huffman code was made once
// for many pictures: literals, and runs as matches at the distance of a pixel, up to 258 bytes long. The code is part
// of every stream, so each can be read alone. Paper is a run, as long as it goes, over the ends of rows too where
// nothing stands between them; ink is literals, and where eight neighbours of a row are equal, what follows them as
// they are is a run. Checksums are made a run at a time (rle_deflate_checks.h).
//
// Exactness: inflating gives what rle::paint paints. The bytes depend on the pixels, the layout and the code alone.
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

// How a picture becomes bytes.
struct Layout {
  rle::EncodedLevels pixels = rle::encoded_levels(rle::gray_table(255, 0));
  bool row_prefix = false;  // a 0 before every row: PNG's filter byte
  Wrapper wrapper = Wrapper::zlib;
};

// How often each symbol occurs in pictures of a kind.
class Histogram {
 public:
  void count(const rle::Image& picture, const Layout& layout);
  const std::array<std::uint32_t, 286>& symbols() const { return symbols_; }

 private:
  std::array<std::uint32_t, 286> symbols_{};
};

// A code as kernels read it.
struct CodeTables {
  std::vector<std::uint32_t> codes;   // as body/layout.inc says
  std::vector<std::uint32_t> header;  // what a stream begins with: header_bits bits, the first one lowest
  std::uint32_t header_bits = 0;
};

// A Huffman code for literals and lengths, no code longer than 9 bits; every symbol has one, so that it fits any
// picture, best those it was made for.
class Code {
 public:
  // For pictures of one layout.
  Code(const Histogram& histogram, const Layout& layout);
  ~Code();
  Code(Code&&) noexcept;

  // A stream of the picture, at the front of `memory`.
  std::span<const std::uint8_t> compress(const rle::Image& picture, Buffer<std::uint8_t>& memory) const;

  const Layout& layout() const { return layout_; }
  // For pictures of this width.
  CodeTables tables(std::uint64_t width) const;

  struct Bits {
    std::uint64_t bits = 0;
    std::uint32_t count = 0;
  };

 private:
  template <typename Check>
  friend class BlockEncoder;
  friend class Stream;
  Bits paper_bits(std::uint32_t count) const;

  Layout layout_;
  std::array<Bits, 256> literals_{};  // by byte
  std::array<Bits, 259> matches_{};   // of 3 to 258 bytes, the distance included
  Bits end_;
  // By level: the literal's bits, from bit 16 their number, from bit 24 the byte itself.
  std::array<std::uint32_t, 256> levels_{};
  // By level: the literals of a pixel's bytes, four together.
  std::array<std::array<Bits, rle::EncodedLevels::kMostBytes / 4>, 256> pixels_{};
  // Of so much paper: bits, and from bit 58 their number; 0 where they are too many. Half as large as Bits: all of it
  // should stay in a core's first cache.
  std::vector<std::uint64_t> paper_;
  // What every stream begins with: whole bytes, and the bits after them.
  std::vector<std::uint8_t> header_;
  Bits header_rest_;
  // What the checksum needs; the wrapper's own.
  std::unique_ptr<const AdlerSums> adler_;
  std::unique_ptr<const CrcTables> crc_;
};

// Code lengths of at most `longest` bits that cost least (the package-merge algorithm: Larmore and Hirschberg 1990).
// A symbol that does not occur has length 0; one alone has length 1.
std::vector<std::uint8_t> code_lengths(std::span<const std::uint32_t> counts, int longest);

}  // namespace millrace::rle_deflate
