// Input: the numbers of videos of two groups.
// Output: permutations of these videos between two sides of the same sizes: all of them, or as many random ones as
//   requested.
// Never: distinguishes two sides of one size: a permutation and its mirror image are one.
//
// Places are those of the first group's videos and then the second's. A permutation is stored as the places of the
// smaller side, in order; of two equal sides, as those of the side with place 0. The same permutation therefore has the
// same sums.
//
// Random permutations: of all N places, the first m after a partial shuffle of Fisher and Yates are a side. The number
// m is the smaller group's size. For i = 0 to m - 1, places i and i + below(N - i, u_i) are exchanged. The sequence u
// is (permutation, the pair's number in pairs_of(), the permutation's number) of src/kernels/statistics/random.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::statistics {

// Values of p that a number of permutations can give.
struct PLevels {
  bool are_all = false;
  std::size_t count = 0;  // permutations that are examined

  // Returns how probable a split at least as unequal is, where `unequal` permutations are. Among random permutations
  // the observed one counts as one more: a p that can be too small is not valid (Phipson and Smyth 2010).
  double p_of(double unequal) const;
  // Returns the smallest p that is possible.
  double min_p() const { return p_of(are_all ? 1 : 0); }
  // Returns P(p <= `p`) where nothing differs. For random permutations it is `p`, else the greatest possible p at or
  // below `p`.
  double level_of(double p) const;

  bool operator==(const PLevels&) const = default;
};

class PermutationSet {
 public:
  // Takes all permutations if there are no more than `most`, else `most` random ones.
  PermutationSet(std::size_t first, std::size_t second, std::uint32_t most);

  const PLevels& levels() const { return levels_; }
  std::size_t count() const { return levels_.count; }
  std::size_t videos() const { return videos_; }
  std::size_t chosen() const { return chosen_; }

  // Writes the observed split: chosen() places.
  void observed(std::uint16_t* out) const;

  // Buffers of one thread.
  struct Scratch {
    std::vector<std::uint16_t> places;
    std::vector<std::uint8_t> drawn;
  };
  // Writes permutation `number`, below count(), of pair `pair`.
  void put(std::uint64_t seed, std::uint32_t pair, std::uint32_t number, Scratch& scratch, std::uint16_t* out) const;

 private:
  std::size_t videos_, chosen_, first_;
  bool alike_;
  PLevels levels_;
  std::vector<std::uint16_t> all_;  // [count, chosen]; empty for random permutations
};

}  // namespace millrace::statistics
