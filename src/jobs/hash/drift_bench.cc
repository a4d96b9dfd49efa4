// Measures how far hashes drift when JPEGs are decoded at a reduced scale. The drift depends on how many times larger
// the decoded image is than the hash's own target. This curve is the reason for choose_fast_side().
// Usage: drift_bench FILE.jpg...
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

#include "src/io/image/fingerprint.h"

using namespace millrace;

int main(int argc, char** argv) {
  struct Case {
    HashKind kind;
    int size, target;
  };
  const std::vector<Case> cases = {{HashKind::ahash, 8, 8},  {HashKind::dhash, 8, 9}, {HashKind::dhash, 16, 17},
                                   {HashKind::phash, 8, 32}, {HashKind::whash, 8, 8}, {HashKind::pdq, 8, 64}};
  const std::vector<int> factors = {2, 4, 8, 16};
  struct Cell {
    int files = 0, equal = 0, bits = 0, most = 0;
  };
  std::map<std::pair<std::size_t, int>, Cell> table;
  Budget budget(4_GiB);
  Trace trace;
  for (int i = 1; i < argc; ++i) {
    for (std::size_t c = 0; c < cases.size(); ++c) {
      const auto bits_at = [&](int shortest) -> std::optional<std::pair<HashBits, int>> {
        Span span(trace.stage("drift"));
        auto file = FileReader::open(argv[i]);
        if (!file) return std::nullopt;
        FingerprintOptions options;
        options.hashes = {{cases[c].kind}, cases[c].size};
        options.decode.shortest_side = shortest;
        options.decode.gray = shortest > 0;
        auto print = compute_fingerprint(
            **file, options, budget, [] { return false; }, span);
        if (!print) return std::nullopt;
        return std::pair(print->hashes.bits[0], std::min(print->info.width, print->info.height));
      };
      const auto exact = bits_at(0);
      if (!exact) continue;
      for (const int factor : factors) {
        const auto fast = bits_at(factor * cases[c].target);
        if (!fast || fast->second == exact->second) continue;  // not reduced: nothing to compare
        int distance = 0;
        for (std::size_t b = 0; b < exact->first.size(); ++b) distance += exact->first[b] != fast->first[b];
        Cell& cell = table[{c, factor}];
        ++cell.files;
        cell.equal += distance == 0;
        cell.bits += distance;
        cell.most = std::max(cell.most, distance);
      }
    }
  }
  fmt::print(
      "| hash | bits | at least x target | files | equal | mean bits | most bits |\n|---|---|---|---|---|---|---|\n");
  for (const auto& [key, cell] : table) {
    const Case& c = cases[key.first];
    fmt::print("| {}-{} | {} | {} | {} | {:.1f} % | {:.2f} | {} |\n", name_of(c.kind), c.size,
               c.kind == HashKind::pdq ? 256 : c.size * c.size, key.second, cell.files, 100.0 * cell.equal / cell.files,
               static_cast<double>(cell.bits) / cell.files, cell.most);
  }
  return 0;
}
