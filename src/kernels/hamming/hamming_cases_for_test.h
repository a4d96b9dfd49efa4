// Input: nothing.
// Output: collections of codes that exercise every way of joining them.
// Never: changes from run to run: seeds are fixed.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {

using Random = std::mt19937_64;

template <typename Code>
Code random_code(Random& random) {
  Code code{};
  for (int w = 0; w < kWords64<Code>; ++w) set_word64(code, w, random());
  return code;
}

template <typename Code>
Code flipped(Code code, int flips, Random& random) {
  for (int f = 0; f < flips; ++f) {
    const int bit = static_cast<int>(random() % (8 * sizeof(Code)));
    set_word64(code, bit / 64, word64(code, bit / 64) ^ std::uint64_t{1} << (bit % 64));
  }
  return code;
}

template <typename Code>
struct Case {
  std::string name;
  std::vector<Code> codes;
};

template <typename Code>
std::vector<Case<Code>> cases() {
  Random random(7);
  std::vector<Case<Code>> all;
  for (const std::size_t n : {0u, 1u, 2u, 3u, 17u, 301u}) {
    Case<Code> uniform{"uniform " + std::to_string(n), {}};
    for (std::size_t i = 0; i < n; ++i) uniform.codes.push_back(random_code<Code>(random));
    all.push_back(uniform);
  }
  Case<Code> clustered{"clustered", {}};
  std::vector<Code> centres;
  for (int c = 0; c < 40; ++c) centres.push_back(random_code<Code>(random));
  for (int i = 0; i < 901; ++i) {
    const int most = static_cast<int>(sizeof(Code));
    clustered.codes.push_back(
        flipped(centres[random() % 40], static_cast<int>(random() % static_cast<unsigned>(most)), random));
  }
  all.push_back(clustered);
  all.push_back({"all equal", std::vector<Code>(257, centres[0])});
  Case<Code> hot = clustered;
  hot.name = "hot spot";
  for (int i = 0; i < 400; ++i) hot.codes.push_back(centres[1]);
  std::shuffle(hot.codes.begin(), hot.codes.end(), random);
  all.push_back(hot);
  Case<Code> skewed{"all but 12 bits shared", {}};
  for (int i = 0; i < 700; ++i) {
    Code code = centres[2];
    set_word64(code, 0, (word64(code, 0) & ~std::uint64_t{0xFC3F0}) | (random() & 0xFC3F0));
    skewed.codes.push_back(code);
  }
  all.push_back(skewed);
  Case<Code> rare{"bits that are rarely set", {}};
  for (int i = 0; i < 600; ++i) {
    Code code{};
    for (int w = 0; w < kWords64<Code>; ++w) {
      std::uint64_t few = random();
      for (int k = 0; k < 3; ++k) few &= random();
      set_word64(code, w, few);
    }
    rare.codes.push_back(code);
  }
  all.push_back(rare);
  return all;
}

inline std::vector<HammingPair> list_of(const HammingPairs& pairs) {
  return {pairs.list.span().begin(), pairs.list.span().end()};
}

}  // namespace millrace::hamming
