#include "src/kernels/rle_deflate/rle_deflate.h"

#include <algorithm>
#include <cstring>

#include "src/kernels/rle_deflate/rle_deflate_walk.h"

namespace millrace::rle_deflate {
namespace {

// DEFLATE allows codes of 15 bits. A limit of 9 makes charts of a thin line 0.6 % larger than a limit of 12, but six
// literals fit a word.
constexpr int kMaxCodeLength = 9, kMaxLengthCode = 7;
constexpr std::size_t kEndOfBlock = 256;
// Bytes that may be written between two checks for free space.
constexpr std::size_t kSlack = 64;
// Bits that fit a word in addition to at most 7 unwritten bits.
constexpr std::uint32_t kMaxBits = 57;
constexpr std::uint32_t kBackgroundCount = 58;
// Masks for fewer than kTogether literals.
constexpr auto kMasks = [] {
  std::array<std::array<std::uint32_t, 8>, kTogether + 1> masks{};
  for (std::size_t n = 0; n <= kTogether; ++n) {
    for (std::size_t i = 0; i < n; ++i) masks[n][i] = ~std::uint32_t{0};
  }
  return masks;
}();

// Symbol of a match's length, and the bits after it (RFC 1951, 3.2.5).
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

// Symbol of a match's distance, which is always one pixel (RFC 1951, 3.2.5).
struct DistanceSymbol {
  std::uint32_t symbol, extra_bits, extra;
};

DistanceSymbol distance_symbol(std::size_t pixel_bytes) {
  if (pixel_bytes <= 4) return {static_cast<std::uint32_t>(pixel_bytes) - 1, 0, 0};
  if (pixel_bytes <= 8) return {pixel_bytes <= 6 ? 4U : 5U, 1, static_cast<std::uint32_t>(pixel_bytes - 5) & 1};
  return {6, 2, static_cast<std::uint32_t>(pixel_bytes) - 9};  // 9 to 12
}

// Returns Huffman codes of the given lengths, first bit lowest (RFC 1951, 3.2.2).
template <typename Bits>
std::vector<Bits> codes_of(std::span<const std::uint8_t> lengths) {
  std::array<std::uint32_t, kMaxCodeLength + 2> next{};
  for (const std::uint8_t length : lengths) {
    if (length > 0) ++next[length + 1U];
  }
  std::uint32_t code = 0;
  for (std::size_t bits = 1; bits < next.size(); ++bits) {
    code = (code + next[bits]) << 1;
    next[bits] = code;
  }
  // next[b] is now the first code of length b; before, it held the count of length b - 1.
  std::vector<Bits> out(lengths.size());
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    if (lengths[s] == 0) continue;
    std::uint32_t value = next[lengths[s]]++, turned = 0;
    for (int i = 0; i < lengths[s]; ++i, value >>= 1) turned = turned << 1 | (value & 1);
    out[s] = {turned, lengths[s]};
  }
  return out;
}

// Bits of a stream, first bit lowest, in a word that is written bytewise.
struct BitWord {
  std::uint64_t bits = 0;
  std::uint32_t filled = 0;

  // Appends bits: at most kMaxBits between two drains.
  void put(const DeflateCode::Bits& more) {
    bits |= more.bits << filled;
    filled += more.count;
  }
  // Writes 8 bytes and returns how many of them are complete. At most 7 bits remain.
  std::uint32_t drain(std::uint8_t* out) {
    std::memcpy(out, &bits, 8);
    const std::uint32_t bytes = filled / 8;
    bits >>= 8 * bytes;
    filled -= 8 * bytes;
    return bytes;
  }
};

struct Counter {
  std::array<std::uint32_t, 286>* symbols;
  const rle::EncodedLevels* pixels;

  void zero() { add(0); }
  void background(std::uint32_t count) {
    for (const std::uint8_t value : pixels->of(0)) add(value);
    more(0, count - 1);
  }
  void literals(const std::uint8_t* levels, std::size_t count) {
    each_pixel(
        levels, count, [&](std::uint32_t n) { background(n); },
        [&](std::uint8_t level) {
          for (const std::uint8_t value : pixels->of(level)) add(value);
        });
  }
  void more(std::uint8_t level, std::uint32_t count) {
    split_more(
        pixels->of(level), count, [&](std::uint8_t value) { add(value); },
        [&](std::uint32_t length) { add(kLengthSymbols[length].symbol); });
  }
  void add(std::size_t symbol) { ++(*symbols)[symbol]; }
};

}  // namespace

void SymbolHistogram::count(const rle::Image& picture, const StreamLayout& layout) {
  Counter counter{&symbols_, &layout.pixels};
  walk_image(picture, layout, counter);
  ++symbols_[kEndOfBlock];
}

DeflateCode::DeflateCode(const SymbolHistogram& histogram, const StreamLayout& layout) : layout_(layout) {
  // Symbols that these images lack may occur in others. The counts of huge images must stay below 2^32.
  std::vector<std::uint32_t> counts(histogram.symbols().begin(), histogram.symbols().end());
  const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
  for (std::uint32_t& count : counts) count = most < 1 << 25 ? 64 * count + 1 : count + 1;
  const std::vector<std::uint8_t> lengths = code_lengths(counts, kMaxCodeLength);
  const std::vector<Bits> codes = codes_of<Bits>(lengths);
  std::copy_n(codes.begin(), 256, literals_.begin());
  end_ = codes[kEndOfBlock];
  const DistanceSymbol distance = distance_symbol(layout.pixels.bytes);
  for (std::uint32_t n = kMinRun; n <= kMaxRun; ++n) {
    const LengthSymbol& s = kLengthSymbols[n];
    const Bits& code = codes[s.symbol];
    // The only distance has the code 0, of one bit.
    const std::uint32_t before = code.count + s.extra_bits + 1U;
    matches_[n] = {code.bits | std::uint64_t{s.extra} << code.count | std::uint64_t{distance.extra} << before,
                   before + distance.extra_bits};
  }

  // Header of the last block, with dynamic codes (RFC 1951, 3.2.7). It has 286 lengths for literals and lengths, and
  // those for distances up to the used one. They are stored directly, without the repeat codes.
  std::vector<std::uint8_t> all(lengths);
  all.resize(all.size() + distance.symbol, 0);
  all.push_back(1);
  std::vector<std::uint32_t> length_counts(19, 0);
  for (const std::uint8_t length : all) ++length_counts[length];
  const std::vector<std::uint8_t> length_lengths = code_lengths(length_counts, kMaxLengthCode);
  const std::vector<Bits> length_codes = codes_of<Bits>(length_lengths);
  constexpr std::array<std::uint8_t, 19> kOrder = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  std::vector<Bits> header = {{1, 1}, {2, 2}, {29, 5}, {distance.symbol, 5}, {15, 4}};
  for (const std::uint8_t symbol : kOrder) header.push_back({length_lengths[symbol], 3});
  for (const std::uint8_t length : all) header.push_back(length_codes[length]);
  if (layout.wrapper == Wrapper::zlib) {
    header_ = {0x78, 0x9C};
    adler_ = std::make_unique<AdlerSums>(layout.pixels);
  } else {
    // Gzip header: deflate, no name, no time, unknown system (RFC 1952).
    header_ = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255};
    crc_ = std::make_unique<CrcTables>(layout.pixels);
  }
  BitWord word;
  for (const Bits& bits : header) {
    word.put(bits);
    std::array<std::uint8_t, 8> bytes{};
    const std::uint32_t done = word.drain(bytes.data());
    header_.insert(header_.end(), bytes.begin(), bytes.begin() + done);
  }
  header_rest_ = {word.bits, word.filled};

  for (std::size_t level = 0; level < 256; ++level) {
    const std::uint8_t value = layout.pixels.level[level][0];
    const Bits& literal = literals_[value];
    levels_[level] = static_cast<std::uint32_t>(literal.bits) | literal.count << 16 | std::uint32_t{value} << 24;
    BitWord pixel;
    std::size_t group = 0;
    for (std::size_t i = 0; i < layout.pixels.bytes; ++i) {
      pixel.put(literals_[layout.pixels.level[level][i]]);
      if (i % 4 != 3 && i + 1 != layout.pixels.bytes) continue;
      pixels_[level][group++] = {pixel.bits, pixel.filled};
      pixel = {};
    }
  }
  background_.resize(kTypicalBackground);
  for (std::uint32_t n = 1; n < kTypicalBackground; ++n) {
    const Bits bits = background_bits(n);
    background_[n] = bits.bits | std::uint64_t{bits.count} << kBackgroundCount;
  }
}

DeflateCode::~DeflateCode() = default;
DeflateCode::DeflateCode(DeflateCode&&) noexcept = default;

// Returns the bits of `count` background pixels, or no bits if there are too many.
DeflateCode::Bits DeflateCode::background_bits(std::uint32_t count) const {
  BitWord word;
  bool fits = true;
  const auto put = [&](const Bits& bits) {
    fits = fits && word.filled + bits.count <= kMaxBits - 7;
    if (fits) word.put(bits);
  };
  for (const std::uint8_t value : layout_.pixels.of(0)) put(literals_[value]);
  split_more(
      layout_.pixels.of(0), count - 1, [&](std::uint8_t value) { put(literals_[value]); },
      [&](std::uint32_t length) { put(matches_[length]); });
  return fits ? Bits{word.bits, word.filled} : Bits{};
}

// Output of a stream's bits.
class Stream {
 public:
  [[gnu::always_inline]] Stream(const DeflateCode& code, Buffer<std::uint8_t>& memory) {
    memory.grow(std::max<std::size_t>(code.header_.size(), 1 << 15) + kSlack, 0);
    std::memcpy(memory.data(), code.header_.data(), code.header_.size());
    out_ = memory.data() + code.header_.size();
    full_ = memory.data() + memory.size() - kSlack;
    word_.put(code.header_rest_);
  }

  [[gnu::always_inline]] void put(const DeflateCode::Bits& bits) { word_.put(bits); }
  [[gnu::always_inline]] void drain() { out_ += word_.drain(out_); }
  [[gnu::always_inline]] bool full() const { return out_ > full_; }
  void make_room(Buffer<std::uint8_t>& memory) {
    const auto used = static_cast<std::size_t>(out_ - memory.data());
    memory.grow(used + 2 * kSlack, used);
    out_ = memory.data() + used;
    full_ = memory.data() + memory.size() - kSlack;
  }
  // Writes the remaining bits, and returns room for `bytes` after them.
  [[gnu::always_inline]] std::uint8_t* end(std::size_t bytes) {
    drain();
    *out_ = static_cast<std::uint8_t>(word_.bits);
    if (word_.filled > 0) ++out_;
    out_ += bytes;
    return out_ - bytes;
  }

 private:
  std::uint8_t* out_;
  const std::uint8_t* full_;
  BitWord word_;
};

// Encodes an image's parts into a stream. The states of the stream and of the checksum must stay in registers. So no
// function that is not inlined may get their addresses, as each stored byte could then be a part of them. Rare cases
// work on copies.
template <typename Check>
class BlockEncoder {
 public:
  [[gnu::always_inline]] BlockEncoder(const DeflateCode& code, const Check& check, Buffer<std::uint8_t>& memory)
      : code_(&code), memory_(&memory), stream_(code, memory), check_(check) {}

  [[gnu::always_inline]] void zero() {
    check_.zero();
    stream_.put(code_->literals_[0]);
    drain();
  }

  [[gnu::always_inline]] void background(std::uint32_t count) {
    if (count >= kTypicalBackground || code_->background_[count] == 0) {
      pixel(0);
      return more(0, count - 1);
    }
    check_.brief_run(0, count);
    const std::uint64_t bits = code_->background_[count];
    stream_.put(
        {bits & ((std::uint64_t{1} << kBackgroundCount) - 1), static_cast<std::uint32_t>(bits >> kBackgroundCount)});
    drain();
  }

  [[gnu::always_inline]] void literals(const std::uint8_t* levels, std::size_t count) {
    if (code_->layout_.pixels.bytes > 1) {
      each_pixel(
          levels, count, [&](std::uint32_t n) { background(n); }, [&](std::uint8_t level) { pixel(level); });
      return;
    }
    for (; count > kTogether; count -= kTogether, levels += kTogether) few(levels, kTogether);
    few(levels, count);
  }

  [[gnu::always_inline]] void more(std::uint8_t level, std::uint32_t count) {
    check_ = after_run(check_, level, count);
    stream_ = put_more(stream_, *code_, *memory_, level, count);
  }

  [[gnu::always_inline]] std::span<const std::uint8_t> finish() {
    stream_.put(code_->end_);
    std::uint8_t* out = stream_.end(Check::kTrailer);
    Check check = check_;
    check.finish(out);
    return {memory_->data(), static_cast<std::size_t>(out + Check::kTrailer - memory_->data())};
  }

 private:
  // Encodes up to kTogether literals without a branch on their number; levels beyond them may be read.
  [[gnu::always_inline]] void few(const std::uint8_t* levels, std::size_t count) {
    Entries entries;
    for (std::size_t i = 0; i < kTogether; ++i) entries[i] = code_->levels_[levels[i]] & kMasks[count][i];
    check_.few(entries, count);
    static_assert(kTogether == 6 && kTogether * kMaxCodeLength <= kMaxBits);
    // The literals are combined in pairs, so that only one sum of lengths depends on the one before.
    const DeflateCode::Bits front = pair(entries[0], entries[1]), middle = pair(entries[2], entries[3]),
                            back = pair(entries[4], entries[5]);
    const std::uint32_t two = front.count + middle.count;
    stream_.put({front.bits | middle.bits << front.count | back.bits << two, two + back.count});
    drain();
  }
  [[gnu::always_inline]] static DeflateCode::Bits pair(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = a >> 16 & 0xFF;
    return {(a & 0xFFFF) | std::uint64_t{b & 0xFFFF} << first, first + (b >> 16 & 0xFF)};
  }

  [[gnu::always_inline]] void pixel(std::uint8_t level) {
    check_.brief_run(level, 1);
    for (std::size_t group = 0; group < (code_->layout_.pixels.bytes + 3) / 4; ++group) {
      stream_.put(code_->pixels_[level][group]);
      drain();
    }
  }

  [[gnu::always_inline]] void drain() {
    stream_.drain();
    if (stream_.full()) stream_ = with_room(stream_, *memory_);
  }
  [[gnu::noinline]] static Stream with_room(Stream stream, Buffer<std::uint8_t>& memory) {
    stream.make_room(memory);
    return stream;
  }
  [[gnu::noinline]] static Check after_run(Check check, std::uint8_t level, std::uint32_t count) {
    check.run(level, count);
    return check;
  }
  [[gnu::noinline]] static Stream put_more(Stream stream, const DeflateCode& code, Buffer<std::uint8_t>& memory,
                                           std::uint8_t level, std::uint32_t count) {
    const auto put = [&](const DeflateCode::Bits& bits) {
      stream.put(bits);
      stream.drain();
      if (stream.full()) stream.make_room(memory);
    };
    split_more(
        code.layout_.pixels.of(level), count, [&](std::uint8_t value) { put(code.literals_[value]); },
        [&](std::uint32_t length) { put(code.matches_[length]); });
    return stream;
  }

  const DeflateCode* code_;
  Buffer<std::uint8_t>* memory_;
  Stream stream_;
  Check check_;
};

std::span<const std::uint8_t> DeflateCode::compress(const rle::Image& picture, Buffer<std::uint8_t>& memory) const {
  const auto with = [&](auto check) {
    BlockEncoder encoder(*this, check, memory);
    walk_image(picture, layout_, encoder);
    return encoder.finish();
  };
  return layout_.wrapper == Wrapper::zlib ? with(Adler(*adler_)) : with(Crc(*crc_));
}

}  // namespace millrace::rle_deflate
