// Input: a seed, and the purpose of a number.
// Output: random numbers by counter: each is available without those before it, so that threads and order change
//   nothing.
// Never: has a shared state, or is fit for secrets.
//
// Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011): Philox4x32 of ten rounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::statistics {

using Words = std::array<std::uint32_t, 4>;

inline Words philox(Words counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0], b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

enum class Purpose : std::uint32_t { permutation = 1, bootstrap = 2, separability = 3 };

// Number i of the sequence (purpose, stream, replicate) is word i mod 4 of
// philox({i / 4, replicate, stream, purpose}, {the seed's low 32 bits, its high 32 bits}).
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t stream, std::uint32_t replicate)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, replicate, stream, static_cast<std::uint32_t>(purpose)} {}

  std::uint32_t next() {
    if (at_ == words_.size()) {
      words_ = philox(counter_, key_);
      ++counter_[0];
      at_ = 0;
    }
    return words_[at_++];
  }

 private:
  std::array<std::uint32_t, 2> key_;
  Words counter_, words_{};
  std::size_t at_ = 4;
};

// Returns a number from 0 to n - 1; each is as likely as the others to within n / 2^32.
inline std::uint32_t below(std::uint32_t n, std::uint32_t word) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * n) >> 32);
}

}  // namespace millrace::statistics
