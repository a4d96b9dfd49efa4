#include <map>

#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming::reference {
namespace {

template <typename Code>
std::vector<HammingPair> all_pairs(std::span<const Code> codes, int radius) {
  std::vector<HammingPair> pairs;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    for (std::size_t j = i + 1; j < codes.size(); ++j) {
      const std::uint32_t d = distance(codes[i], codes[j]);
      if (d <= static_cast<std::uint32_t>(radius)) {
        pairs.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), d});
      }
    }
  }
  return pairs;
}

template <typename Code>
JoinResult join(std::span<const Code> codes, int radius, Budget&) {
  JoinResult joined;
  joined.nodes.of_row.resize(codes.size());
  std::vector<Code> unique;
  std::map<std::vector<std::uint64_t>, std::uint32_t> seen;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    std::vector<std::uint64_t> key;
    for (int w = 0; w < kWords64<Code>; ++w) key.push_back(word64(codes[row], w));
    const auto [at, fresh] = seen.emplace(key, static_cast<std::uint32_t>(unique.size()));
    if (fresh) unique.push_back(codes[row]);
    joined.nodes.of_row[row] = at->second;
  }
  joined.nodes.count = static_cast<std::uint32_t>(unique.size());
  const std::vector<HammingPair> pairs = all_pairs(std::span<const Code>(unique), radius);
  joined.pairs.list.resize(pairs.size());
  std::copy(pairs.begin(), pairs.end(), joined.pairs.list.begin());
  joined.expanded = all_pairs(codes, radius).size();
  joined.why = "the definition";
  return joined;
}

template <typename Code>
std::vector<HammingPair> find(std::span<const Code> queries, std::span<const Code> base, int radius) {
  std::vector<HammingPair> pairs;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    for (std::size_t j = 0; j < base.size(); ++j) {
      const std::uint32_t d = distance(queries[i], base[j]);
      if (d <= static_cast<std::uint32_t>(radius)) {
        pairs.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), d});
      }
    }
  }
  return pairs;
}

}  // namespace

JoinResult self_join(std::span<const std::uint64_t> codes, int radius, Budget& budget) {
  return join(codes, radius, budget);
}
JoinResult self_join(std::span<const Code256> codes, int radius, Budget& budget) { return join(codes, radius, budget); }
std::vector<HammingPair> row_pairs(std::span<const std::uint64_t> codes, int radius) {
  return all_pairs(codes, radius);
}
std::vector<HammingPair> row_pairs(std::span<const Code256> codes, int radius) { return all_pairs(codes, radius); }
std::vector<HammingPair> search(std::span<const std::uint64_t> queries, std::span<const std::uint64_t> base,
                                int radius) {
  return find(queries, base, radius);
}
std::vector<HammingPair> search(std::span<const Code256> queries, std::span<const Code256> base, int radius) {
  return find(queries, base, radius);
}

}  // namespace millrace::hamming::reference
