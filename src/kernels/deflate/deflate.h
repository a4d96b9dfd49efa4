// Enters: pictures of ink, and how their levels look.
// Leaves: streams that zlib inflates to the pictures' pixels, without a pixel having been written.
// Never: searches for matches: a chart is runs of paper with short pieces of ink between.
//
// A stream is RFC 1950 (zlib) around one DEFLATE block (RFC 1951) whose Huffman code was made once for many pictures:
// literals, and runs as matches at distance 1, up to 258 long. The code is part of every stream, so each can be read
// alone. Adler-32 is summed a run at a time: n bytes v after (a, b) give a' = a + n v, b' = b + n a + v n (n + 1) / 2.
//
// Exactness: inflating gives what ink::paint paints. The bytes depend on the picture, the tones and the code alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/ink/ink.h"

namespace millrace::deflate {

// How a picture becomes bytes.
struct Layout {
  ink::Tones tones = ink::tones(255, 0);
  bool row_prefix = false;  // a 0 before every row: PNG's filter byte
};

// How often each symbol occurs in pictures of a kind.
class Histogram {
 public:
  void count(const ink::Picture& picture, const Layout& layout);
  const std::array<std::uint32_t, 286>& symbols() const { return symbols_; }

 private:
  std::array<std::uint32_t, 286> symbols_{};
};

// A Huffman code for literals and lengths, no code longer than 12 bits; every symbol has one, so that it fits any
// picture, best those it was made for.
class Code {
 public:
  // For pictures of one layout.
  Code(const Histogram& histogram, const Layout& layout);

  // A zlib stream of the picture, at the front of `memory`.
  std::span<const std::uint8_t> compress(const ink::Picture& picture, Buffer<std::uint8_t>& memory) const;

  struct Bits {
    std::uint64_t bits = 0;
    std::uint32_t count = 0;
  };

 private:
  friend class Encoder;
  Bits run_bits(std::uint8_t value, std::uint32_t count) const;

  Layout layout_;
  std::array<Bits, 256> literals_{};  // by byte
  std::array<Bits, 259> matches_{};   // of 3 to 258, the distance included
  Bits end_;
  // By level: the literal's bits, from bit 16 their number, from bit 24 the byte itself.
  std::array<std::uint32_t, 256> levels_{};
  // Of so much paper; what needs more than kMostBits has none.
  std::vector<Bits> paper_;
  // What every stream begins with: whole bytes, and the bits after them.
  std::vector<std::uint8_t> header_;
  Bits header_rest_;
};

// Code lengths of at most `longest` bits that cost least (the package-merge algorithm: Larmore and Hirschberg 1990).
// A symbol that does not occur has length 0; one alone has length 1.
std::vector<std::uint8_t> code_lengths(std::span<const std::uint32_t> counts, int longest);

}  // namespace millrace::deflate
