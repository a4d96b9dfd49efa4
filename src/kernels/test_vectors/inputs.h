// Input: nothing.
// Output: pictures, codes and lines that are the same on every machine, and digests of results.
// Never: uses a library's random numbers or a kernel's fast version.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/kernels/hamming/hamming.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::test_vectors {

// Knuth's 64-bit linear congruential generator.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  std::uint64_t next64() { return std::uint64_t{next()} << 32 | next(); }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint32_t>(n)); }

 private:
  std::uint64_t state_;
};

// Returns a generator for a round. Rounds that follow one another have nothing in common: near seeds would give near
// numbers.
inline Random make_random(std::uint64_t round) { return Random(round * 0x9E3779B97F4A7C15U); }
// Returns the size of a round's inputs, which grow with the rounds: the 32nd has inputs as large as a run's.
inline int round_size(std::uint64_t round) { return static_cast<int>(std::min<std::uint64_t>(round, 32)); }

// Generates codes of 64 or 256 bits that have nothing in common.
template <typename Code>
std::vector<Code> random_codes(std::size_t count, std::uint64_t seed) {
  constexpr std::size_t kBytes = sizeof(Code), kWord = 8;
  static_assert(kBytes % kWord == 0);
  Random random(seed);
  std::vector<Code> out(count);
  for (Code& code : out) {
    std::array<std::uint64_t, kBytes / kWord> words{};
    for (std::uint64_t& word : words) word = random.next64();
    code = std::bit_cast<Code>(words);
  }
  return out;
}

// FNV-1a hash, which needs no library and no vector code.
class Digest {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t b : bytes) hash_ = (hash_ ^ b) * 1099511628211U;
  }
  void add(std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) hash_ = (hash_ ^ (word >> shift & 255)) * 1099511628211U;
  }
  void add(float value) { add(std::bit_cast<std::uint32_t>(value)); }
  void add(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    add(static_cast<std::uint32_t>(bits));
    add(static_cast<std::uint32_t>(bits >> 32));
  }
  std::string text() const;

 private:
  std::uint64_t hash_ = 14695981039346656037U;
};

// Generates an RGB picture: rectangles of one colour over slopes, with a little noise. It has edges, flat places and
// every level of brightness.
std::vector<std::uint8_t> make_picture(int width, int height, std::uint64_t seed);
// Generates a walk from left to right across a chart of these sides.
std::vector<stroke::StrokePoint> make_walk(int width, int height, std::size_t points, std::uint64_t seed);

struct TestInputs {
  // Sides that are no multiple of any vector, so that every loop's rest is run too.
  static constexpr int kWidth = 613, kHeight = 419;
  static constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight;
  static constexpr int kChartWidth = 131, kChartHeight = 67;

  TestInputs();

  std::vector<std::uint8_t> rgb;
  std::vector<std::uint8_t> luma;    // computed by the reference
  std::vector<std::uint64_t> codes;  // 40 clusters of codes some bits apart
  std::vector<hamming::Code256> long_codes;
  std::vector<stroke::StrokePoint> walk;
};

}  // namespace millrace::test_vectors
