// Input: numbered items, and pairs that belong together.
// Output: the sets of items connected by chains of pairs; the lowest item names each set.
// Never: knows what an item is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace millrace::dedupe {

class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find_root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t x = find_root(a), y = find_root(b);
    parent_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace millrace::dedupe
