// Input: a code of either width.
// Output: its words, so that one template serves both widths.
// Never: depends on joins.
#pragma once

#include <bit>
#include <cstdint>

#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

template <typename Code>
inline constexpr int kWords64 = static_cast<int>(sizeof(Code) / 8);
template <typename Code>
inline constexpr int kWords32 = static_cast<int>(sizeof(Code) / 4);

inline std::uint64_t word64(const std::uint64_t& code, int) { return code; }
inline std::uint64_t word64(const Code256& code, int at) { return code.words[static_cast<std::size_t>(at)]; }
inline void set_word64(std::uint64_t& code, int, std::uint64_t word) { code = word; }
inline void set_word64(Code256& code, int at, std::uint64_t word) { code.words[static_cast<std::size_t>(at)] = word; }

// Returns a 32-bit word; word 2w is the low half of 64-bit word w, on every machine.
template <typename Code>
std::uint32_t word32(const Code& code, int at) {
  return static_cast<std::uint32_t>(word64(code, at / 2) >> (32 * (at % 2)));
}

template <typename Code>
std::uint32_t distance(const Code& a, const Code& b) {
  int bits = 0;
  for (int w = 0; w < kWords64<Code>; ++w) bits += std::popcount(word64(a, w) ^ word64(b, w));
  return static_cast<std::uint32_t>(bits);
}

}  // namespace millrace::hamming
