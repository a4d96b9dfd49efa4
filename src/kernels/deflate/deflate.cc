#include "src/kernels/deflate/deflate.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace millrace::deflate {
namespace {

constexpr int kLongestCode = 12, kLongestLengthCode = 7;
constexpr std::uint32_t kLongestRun = 258, kShortestRun = 3;
constexpr std::size_t kEndOfBlock = 256;
// Bytes that may be written between two looks at the room that is left.
constexpr std::size_t kSlack = 64;
// Beside at most 7 bits that wait.
constexpr std::uint32_t kMostBits = 57;
// Paper of up to so many pixels is looked up.
constexpr std::uint32_t kUsualPaper = 2048;
// Literals that are put together, and which of them count when there are fewer.
constexpr std::size_t kTogether = 8;
constexpr auto kMasks = [] {
  std::array<std::array<std::uint32_t, kTogether>, kTogether + 1> masks{};
  for (std::size_t n = 0; n <= kTogether; ++n) {
    for (std::size_t i = 0; i < n; ++i) masks[n][i] = ~std::uint32_t{0};
  }
  return masks;
}();

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

// Bits of a stream, first bit lowest, in a word that is put out by the byte.
struct BitWord {
  std::uint64_t bits = 0;
  std::uint32_t filled = 0;

  // At most kMostBits between two drains.
  void put(const Code::Bits& more) {
    bits |= more.bits << filled;
    filled += more.count;
  }
  // Writes 8 bytes; how many of them are done. At most 7 bits stay.
  std::uint32_t drain(std::uint8_t* out) {
    std::memcpy(out, &bits, 8);
    const std::uint32_t bytes = filled / 8;
    bits >>= 8 * bytes;
    filled -= 8 * bytes;
    return bytes;
  }
};

// Adler-32, a run at a time.
class Adler {
 public:
  void add(std::uint64_t value, std::uint64_t count) {
    if (count > 1 << 12) reduce();
    b_ += count * a_ + value * (count * (count + 1) / 2);
    a_ += count * value;
    // Reduced when the sums might not hold another run of the usual length.
    if (count > 1 << 12 || (a_ | b_) >> 40 != 0) reduce();
  }
  // kTogether bytes, of which the first n count and the others are 0; in the highest byte of each entry.
  void add_few(const std::array<std::uint32_t, kTogether>& entries, std::uint64_t n) {
    std::uint32_t sum = 0, later = 0;
    for (std::size_t i = 0; i < kTogether; ++i) {
      sum += entries[i] >> 24;
      later += (entries[i] >> 24) * static_cast<std::uint32_t>(kTogether - i);
    }
    // `later` counts each byte as if kTogether of them were summed.
    b_ += n * a_ + later - sum * (kTogether - n);
    a_ += sum;
  }
  std::uint32_t value() {
    reduce();
    return static_cast<std::uint32_t>(b_ << 16 | a_);
  }

 private:
  static constexpr std::uint64_t kBase = 65521;
  void reduce() {
    a_ %= kBase;
    b_ %= kBase;
  }
  std::uint64_t a_ = 1, b_ = 0;
};

}  // namespace

namespace {

// What a picture is put as: paper, literals, runs, one after the other.
template <typename Sink>
void walk(const ink::Picture& picture, const Layout& layout, Sink& sink) {
  const auto width = static_cast<std::uint32_t>(picture.width());
  std::uint32_t paper = 0;
  for (int y = 0; y < picture.height(); ++y) {
    if (layout.row_prefix) {
      sink.paper(paper);
      sink.run(std::uint8_t{0}, 1);
      paper = 0;
    }
    const std::uint8_t* levels = picture.levels(y);
    std::uint32_t end = 0;
    for (const ink::Span& span : picture.row(y)) {
      sink.paper(paper + span.x - end);
      sink.literals(levels, span.literals);
      levels += span.literals;
      if (span.run > 0) sink.run(layout.tones[span.level], span.run);
      paper = 0;
      end = std::uint32_t{span.x} + span.literals + span.run;
    }
    paper += width - end;
  }
  sink.paper(paper);
}

// Lengths of the matches that a run's bytes after the first are put as; the rest, below 3, are literals.
template <typename Each>
std::uint32_t split_run(std::uint32_t count, const Each& each) {
  std::uint32_t left = count - 1;
  while (left >= kShortestRun) {
    const std::uint32_t length = std::min(left, kLongestRun);
    each(length);
    left -= length;
  }
  return left;
}

struct Counter {
  std::array<std::uint32_t, 286>& symbols;
  const Layout& layout;

  void paper(std::uint32_t count) {
    if (count > 0) run(layout.tones[0], count);
  }
  void literals(const std::uint8_t* levels, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) ++symbols[layout.tones[levels[i]]];
  }
  void run(std::uint8_t value, std::uint32_t count) {
    symbols[value] += 1 + split_run(count, [&](std::uint32_t length) { ++symbols[kLengthSymbols[length].symbol]; });
  }
};

}  // namespace

void Histogram::count(const ink::Picture& picture, const Layout& layout) {
  Counter counter{symbols_, layout};
  walk(picture, layout, counter);
  ++symbols_[kEndOfBlock];
}

Code::Code(const Histogram& histogram, const Layout& layout) : layout_(layout) {
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
    matches_[n] = {code.bits | std::uint64_t{s.extra} << code.count, code.count + s.extra_bits + 1U};
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
  std::vector<Bits> header = {{0x9C78, 16}, {1, 1}, {2, 2}, {29, 5}, {0, 5}, {15, 4}};
  for (const std::uint8_t symbol : kOrder) header.push_back({length_lengths[symbol], 3});
  for (const std::uint8_t length : all) header.push_back(length_codes[length]);
  BitWord word;
  for (const Bits& bits : header) {
    word.put(bits);
    std::array<std::uint8_t, 8> bytes{};
    const std::uint32_t done = word.drain(bytes.data());
    header_.insert(header_.end(), bytes.begin(), bytes.begin() + done);
  }
  header_rest_ = {word.bits, word.filled};

  for (std::size_t level = 0; level < 256; ++level) {
    const std::uint8_t value = layout.tones[level];
    const Bits& literal = literals_[value];
    levels_[level] = static_cast<std::uint32_t>(literal.bits) | literal.count << 16 | std::uint32_t{value} << 24;
  }
  paper_.resize(kUsualPaper);
  for (std::uint32_t n = 1; n < kUsualPaper; ++n) paper_[n] = run_bits(layout.tones[0], n);
}

// All of a run, or nothing where it has too many bits.
Code::Bits Code::run_bits(std::uint8_t value, std::uint32_t count) const {
  BitWord word;
  bool fits = true;
  const auto put = [&](const Bits& bits) {
    fits = fits && word.filled + bits.count <= kMostBits - 7;
    if (fits) word.put(bits);
  };
  put(literals_[value]);
  const std::uint32_t rest = split_run(count, [&](std::uint32_t length) { put(matches_[length]); });
  for (std::uint32_t i = 0; i < rest; ++i) put(literals_[value]);
  return fits ? Bits{word.bits, word.filled} : Bits{};
}

// Puts a picture's parts into a stream.
class Encoder {
 public:
  Encoder(const Code& code, Buffer<std::uint8_t>& memory) : code_(code), memory_(memory) {
    memory_.grow(std::max<std::size_t>(code.header_.size(), 1 << 15) + kSlack, 0);
    std::memcpy(memory_.data(), code.header_.data(), code.header_.size());
    out_ = memory_.data() + code.header_.size();
    full_ = memory_.data() + memory_.size() - kSlack;
    word_.put(code.header_rest_);
  }

  void paper(std::uint32_t count) {
    if (count == 0) return;
    if (count < kUsualPaper && code_.paper_[count].count > 0) {
      adler_.add(code_.layout_.tones[0], count);
      word_.put(code_.paper_[count]);
      return drain();
    }
    run(code_.layout_.tones[0], count);
  }

  void literals(const std::uint8_t* levels, std::size_t count) {
    for (; count > kTogether; count -= kTogether, levels += kTogether) few(levels, kTogether);
    few(levels, count);
  }

  void run(std::uint8_t value, std::uint32_t count) {
    adler_.add(value, count);
    const Code::Bits literal = code_.literals_[value];
    word_.put(literal);
    const std::uint32_t rest = split_run(count, [&](std::uint32_t length) {
      word_.put(code_.matches_[length]);
      drain();
    });
    for (std::uint32_t i = 0; i < rest; ++i) word_.put(literal);
    drain();
  }

  std::span<const std::uint8_t> finish() {
    word_.put(code_.end_);
    drain();
    *out_ = static_cast<std::uint8_t>(word_.bits);
    if (word_.filled > 0) ++out_;
    const std::uint32_t sum = adler_.value();
    for (const int shift : {24, 16, 8, 0}) *out_++ = static_cast<std::uint8_t>(sum >> shift);
    return {memory_.data(), static_cast<std::size_t>(out_ - memory_.data())};
  }

 private:
  // Up to kTogether literals without a branch on their number; levels beyond them may be read.
  void few(const std::uint8_t* levels, std::size_t count) {
    std::array<std::uint32_t, kTogether> entries;
    for (std::size_t i = 0; i < kTogether; ++i) entries[i] = code_.levels_[levels[i]] & kMasks[count][i];
    adler_.add_few(entries, count);
    static_assert(4 * kLongestCode + 7 <= 64);
    for (std::size_t i = 0; i < kTogether; i += 4) {
      for (std::size_t k = i; k < i + 4; ++k) word_.put({entries[k] & 0xFFFF, entries[k] >> 16 & 0xFF});
      out_ += word_.drain(out_);
    }
    if (out_ > full_) make_room();
  }

  void drain() {
    out_ += word_.drain(out_);
    if (out_ > full_) make_room();
  }
  void make_room() {
    const auto used = static_cast<std::size_t>(out_ - memory_.data());
    memory_.grow(used + 2 * kSlack, used);
    out_ = memory_.data() + used;
    full_ = memory_.data() + memory_.size() - kSlack;
  }

  const Code& code_;
  Buffer<std::uint8_t>& memory_;
  std::uint8_t* out_;
  const std::uint8_t* full_;
  BitWord word_;
  Adler adler_;
};

std::span<const std::uint8_t> Code::compress(const ink::Picture& picture, Buffer<std::uint8_t>& memory) const {
  Encoder encoder(*this, memory);
  walk(picture, layout_, encoder);
  return encoder.finish();
}

}  // namespace millrace::deflate
