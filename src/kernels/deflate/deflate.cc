#include "src/kernels/deflate/deflate.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace millrace::deflate {
namespace {

constexpr int kLongestCode = 15, kLongestLengthCode = 7;
constexpr std::uint32_t kLongestRun = 258, kShortestRun = 3;
constexpr std::size_t kEndOfBlock = 256, kSymbols = 286;

// RFC 1951, 3.2.5: the symbol of a match's length, and the bits after it.
struct LengthSymbol {
  std::uint16_t symbol;
  std::uint8_t extra_bits;
  std::uint8_t extra;
};

constexpr std::array<LengthSymbol, 259> length_symbols() {
  std::array<LengthSymbol, 259> out{};
  std::uint32_t length = 3;
  for (std::uint32_t symbol = 257; symbol < 285; ++symbol) {
    const std::uint32_t bits = symbol < 265 ? 0 : (symbol - 261) / 4;
    for (std::uint32_t extra = 0; extra < 1U << bits && length < 258; ++extra, ++length) {
      out[length] = {static_cast<std::uint16_t>(symbol), static_cast<std::uint8_t>(bits),
                     static_cast<std::uint8_t>(extra)};
    }
  }
  out[258] = {285, 0, 0};
  return out;
}
constexpr std::array<LengthSymbol, 259> kLengthSymbols = length_symbols();

// Huffman codes of the given lengths, first bit lowest (RFC 1951, 3.2.2).
template <typename Bits>
std::vector<Bits> codes_of(std::span<const std::uint8_t> lengths) {
  std::array<std::uint32_t, kLongestCode + 2> next{};
  for (const std::uint8_t length : lengths) {
    if (length > 0) ++next[length + 1U];
  }
  std::uint32_t code = 0;
  for (std::size_t bits = 1; bits < next.size(); ++bits) {
    code = (code + next[bits]) << 1;
    next[bits] = code;
  }
  // next[b] is now twice the first code of length b, as next[b] held the count of length b - 1.
  std::vector<Bits> out(lengths.size());
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    if (lengths[s] == 0) continue;
    std::uint32_t value = next[lengths[s]]++, turned = 0;
    for (int i = 0; i < lengths[s]; ++i, value >>= 1) turned = turned << 1 | (value & 1);
    out[s] = {turned, lengths[s]};
  }
  return out;
}

// Walks a picture as bytes: single ones, and runs of equal ones. Runs that meet are joined.
template <typename Sink>
class Bytes {
 public:
  explicit Bytes(Sink& sink) : sink_(sink) {}

  void run(std::uint8_t value, std::uint32_t count) {
    if (value != value_) {
      flush();
      value_ = value;
    }
    count_ += count;
  }
  void one(std::uint8_t value) { run(value, 1); }
  void flush() {
    if (count_ > 0) sink_.run(value_, count_);
    count_ = 0;
  }

 private:
  Sink& sink_;
  std::uint8_t value_ = 0;
  std::uint32_t count_ = 0;
};

template <typename Sink>
void walk(const ink::Picture& picture, const Layout& layout, Sink& sink) {
  Bytes<Sink> bytes(sink);
  const auto width = static_cast<std::uint32_t>(picture.width());
  const std::uint8_t paper = layout.tones[0];
  for (int y = 0; y < picture.height(); ++y) {
    if (layout.row_prefix) bytes.one(0);
    const std::uint8_t* level = picture.levels(y);
    std::uint32_t x = 0;
    for (const ink::Span& span : picture.row(y)) {
      if (span.x > x) bytes.run(paper, span.x - x);
      for (std::uint32_t i = 0; i < span.literals; ++i) bytes.one(layout.tones[level[i]]);
      level += span.literals;
      if (span.run > 0) bytes.run(layout.tones[span.level], span.run);
      x = std::uint32_t{span.x} + span.literals + span.run;
    }
    if (x < width) bytes.run(paper, width - x);
  }
  bytes.flush();
}

struct Counter {
  std::array<std::uint32_t, kSymbols>& symbols;
  void run(std::uint8_t value, std::uint32_t count) {
    ++symbols[value];
    for (--count; count >= kShortestRun;) {
      const std::uint32_t length = std::min(count, kLongestRun);
      ++symbols[kLengthSymbols[length].symbol];
      count -= length;
    }
    symbols[value] += count;
  }
};

}  // namespace

void Histogram::count(const ink::Picture& picture, const Layout& layout) {
  Counter counter{symbols_};
  walk(picture, layout, counter);
  ++symbols_[kEndOfBlock];
}

Code::Code(const Histogram& histogram) {
  // What the pictures did not show may occur in others.
  std::vector<std::uint32_t> counts(histogram.symbols().begin(), histogram.symbols().end());
  for (std::uint32_t& count : counts) count = 64 * count + 1;
  const std::vector<std::uint8_t> lengths = code_lengths(counts, kLongestCode);
  const std::vector<Bits> codes = codes_of<Bits>(lengths);
  std::copy_n(codes.begin(), 256, literals_.begin());
  end_ = codes[kEndOfBlock];
  for (std::uint32_t n = kShortestRun; n <= kLongestRun; ++n) {
    const LengthSymbol& s = kLengthSymbols[n];
    const Bits& code = codes[s.symbol];
    // The one distance has the code 0, of one bit.
    runs_[n] = {code.bits | std::uint32_t{s.extra} << code.count, code.count + s.extra_bits + 1U};
  }

  // RFC 1951, 3.2.7: the last block, of dynamic codes: 286 lengths for literals and lengths, one for distances. Every
  // symbol has a code, so that lengths are never 0 and go as they are, without the repeat codes.
  std::vector<std::uint8_t> all(lengths);
  all.push_back(1);
  std::vector<std::uint32_t> length_counts(19, 0);
  for (const std::uint8_t length : all) ++length_counts[length];
  const std::vector<std::uint8_t> length_lengths = code_lengths(length_counts, kLongestLengthCode);
  const std::vector<Bits> length_codes = codes_of<Bits>(length_lengths);
  constexpr std::array<std::uint8_t, 19> kOrder = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  header_ = {{0x9C78, 16}, {1, 1}, {2, 2}, {29, 5}, {0, 5}, {15, 4}};
  for (const std::uint8_t symbol : kOrder) header_.push_back({length_lengths[symbol], 3});
  for (const std::uint8_t length : all) header_.push_back(length_codes[length]);
}

// Puts bits into a stream, first bit lowest. Keeps its state in registers: what it writes may alias nothing else.
class Writer {
 public:
  Writer(const Code& code, Buffer<std::uint8_t>& out) : code_(code), out_(out) {
    out_.grow(1 << 16, 0);
    for (const Code::Bits& bits : code.header_) {
      put(bits);
      drain();
    }
  }

  void run(std::uint8_t value, std::uint32_t count) {
    sum(value, count);
    const Code::Bits literal = code_.literals_[value];
    put(literal);
    if (count == 1) return drain();
    --count;
    drain();
    while (count >= kShortestRun) {
      // A rest of one or two bytes would cost literals.
      const std::uint32_t length = std::min(count, kLongestRun);
      put(code_.runs_[length]);
      drain();
      count -= length;
    }
    for (; count > 0; --count) put(literal);
    drain();
  }

  std::size_t finish() {
    put(code_.end_);
    drain();
    while (filled_ > 0) {
      out_[at_++] = static_cast<std::uint8_t>(bits_);
      bits_ >>= 8;
      filled_ = filled_ > 8 ? filled_ - 8 : 0;
    }
    const std::uint64_t a = a_ % kBase, b = b_ % kBase;
    for (const std::uint64_t byte : {b >> 8, b, a >> 8, a}) out_[at_++] = static_cast<std::uint8_t>(byte);
    return at_;
  }

 private:
  static constexpr std::uint64_t kBase = 65521;

  // Adler-32 of `count` bytes of one value. Reduced when the sums might not hold another run of the usual length.
  void sum(std::uint64_t value, std::uint64_t count) {
    if (count > 1 << 12) reduce();
    b_ += count * a_ + value * (count * (count + 1) / 2);
    a_ += count * value;
    if (count > 1 << 12 || (a_ | b_) >> 40 != 0) reduce();
  }
  void reduce() {
    a_ %= kBase;
    b_ %= kBase;
  }

  void put(const Code::Bits& bits) {
    bits_ |= std::uint64_t{bits.bits} << filled_;
    filled_ += bits.count;
  }
  // At most 7 bits stay; two more codes fit then.
  void drain() {
    if (at_ + 16 > out_.size()) out_.grow(at_ + 16, at_);
    std::memcpy(out_.data() + at_, &bits_, 8);
    const std::uint32_t bytes = filled_ / 8;
    at_ += bytes;
    bits_ >>= 8 * bytes;
    filled_ -= 8 * bytes;
  }

  const Code& code_;
  Buffer<std::uint8_t>& out_;
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;
  std::uint32_t filled_ = 0;
  std::uint64_t a_ = 1, b_ = 0;
};

std::span<const std::uint8_t> Code::compress(const ink::Picture& picture, const Layout& layout,
                                             Buffer<std::uint8_t>& memory) const {
  static_assert(std::endian::native == std::endian::little, "bits are stored as a little-endian word");
  Writer writer(*this, memory);
  walk(picture, layout, writer);
  return {memory.data(), writer.finish()};
}

}  // namespace millrace::deflate
