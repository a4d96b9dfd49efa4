#include <algorithm>

#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::rle_deflate {

std::vector<std::uint8_t> code_lengths(std::span<const std::uint32_t> counts, int longest) {
  // A package is a symbol, or two packages of the level below. Its symbols are found by descending the levels.
  struct Package {
    std::uint64_t weight;
    std::int32_t symbol;  // -1 for a pair of packages
    std::uint32_t first;  // index of the first of its two packages in the level below
  };
  std::vector<Package> symbols;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    if (counts[s] > 0) symbols.push_back({counts[s], static_cast<std::int32_t>(s), 0});
  }
  std::vector<std::uint8_t> lengths(counts.size(), 0);
  if (symbols.size() == 1) lengths[static_cast<std::size_t>(symbols[0].symbol)] = 1;
  if (symbols.size() < 2) return lengths;
  std::stable_sort(symbols.begin(), symbols.end(),
                   [](const Package& a, const Package& b) { return a.weight < b.weight; });
  std::vector<std::vector<Package>> levels{symbols};
  for (int level = 1; level < longest; ++level) {
    const std::vector<Package>& below = levels.back();
    std::vector<Package> pairs;
    for (std::uint32_t i = 0; i + 1 < below.size(); i += 2) {
      pairs.push_back({below[i].weight + below[i + 1].weight, -1, i});
    }
    std::vector<Package> merged(symbols.size() + pairs.size());
    std::merge(symbols.begin(), symbols.end(), pairs.begin(), pairs.end(), merged.begin(),
               [](const Package& a, const Package& b) { return a.weight < b.weight; });
    levels.push_back(std::move(merged));
  }
  // Selects the cheapest 2 n - 2 packages of the top level; each occurrence of a symbol in them makes its code one bit
  // longer. The selected packages of each level are always its first ones.
  std::size_t chosen = 2 * symbols.size() - 2;
  for (std::size_t level = levels.size(); level-- > 0 && chosen > 0;) {
    std::size_t below = 0;
    for (std::size_t i = 0; i < chosen; ++i) {
      const Package& package = levels[level][i];
      if (package.symbol >= 0) {
        ++lengths[static_cast<std::size_t>(package.symbol)];
      } else {
        below = std::max(below, static_cast<std::size_t>(package.first) + 2);
      }
    }
    chosen = below;
  }
  return lengths;
}

}  // namespace millrace::rle_deflate
