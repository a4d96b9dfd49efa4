#include "src/kernels/hamming/hamming_permute.h"

#include <algorithm>

#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {

template <typename Code>
std::vector<double> measure_bit_agreement(std::span<const Code> codes) {
  constexpr std::size_t kSample = 4096;
  const std::size_t step = std::max<std::size_t>(1, codes.size() / kSample);
  std::vector<std::uint32_t> ones(64 * kWords64<Code>);
  double taken = 0;
  for (std::size_t at = 0; at < codes.size(); at += step) {
    ++taken;
    for (int w = 0; w < kWords64<Code>; ++w) {
      const std::uint64_t word = word64(codes[at], w);
      for (std::size_t bit = 0; bit < 64; ++bit) {
        ones[64 * static_cast<std::size_t>(w) + bit] += static_cast<std::uint32_t>((word >> bit) & 1);
      }
    }
  }
  std::vector<double> agree;
  for (const std::uint32_t one : ones) {
    const double share = taken > 0 ? one / taken : 0;
    agree.push_back(share * share + (1 - share) * (1 - share));
  }
  return agree;
}

template <typename Code>
void permute_bits(std::span<const Code> from, Code* to, const JoinPlan& plan, const Executor& executor) {
  constexpr int kBytes = static_cast<int>(sizeof(Code));
  std::vector<Code> table(kBytes * 256, Code{});
  std::vector<int> place(8 * kBytes);
  for (std::size_t at = 0; at < plan.bit_at.size(); ++at) place[plan.bit_at[at]] = static_cast<int>(at);
  for (int byte = 0; byte < kBytes; ++byte) {
    for (int value = 0; value < 256; ++value) {
      Code& code = table[static_cast<std::size_t>(256 * byte + value)];
      for (int bit = 0; bit < 8; ++bit) {
        if (((value >> bit) & 1) == 0) continue;
        const int at = place[static_cast<std::size_t>(8 * byte + bit)];
        set_word64(code, at / 64, word64(code, at / 64) | std::uint64_t{1} << (at % 64));
      }
    }
  }
  executor.parallel_for(from.size(), std::size_t{1} << 14, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      std::uint64_t words[kWords64<Code>] = {};
      for (int byte = 0; byte < kBytes; ++byte) {
        const auto value = static_cast<std::size_t>((word64(from[at], byte / 8) >> (8 * (byte % 8))) & 255);
        const Code& part = table[static_cast<std::size_t>(256 * byte) + value];
        for (int w = 0; w < kWords64<Code>; ++w) words[w] |= word64(part, w);
      }
      for (int w = 0; w < kWords64<Code>; ++w) set_word64(to[at], w, words[w]);
    }
  });
}

template std::vector<double> measure_bit_agreement(std::span<const std::uint64_t>);
template std::vector<double> measure_bit_agreement(std::span<const Code256>);
template void permute_bits(std::span<const std::uint64_t>, std::uint64_t*, const JoinPlan&, const Executor&);
template void permute_bits(std::span<const Code256>, Code256*, const JoinPlan&, const Executor&);

}  // namespace millrace::hamming
