// Input: how many videos two groups have.
// Output: ways to deal these videos to two sides of the same sizes anew: all of them, or as many as are wanted, drawn.
// Never: tells two sides of one size apart: a deal and its mirror image are one.
//
// Places are those of the first group's videos and then the second's. A deal is the places of the smaller side, of two
// alike those of the side that place 0 is on, in order: the same deal has the same sums.
//
// Drawn: of all N places, the first m after a partial shuffle of Fisher and Yates are a side, where m is the smaller
// group's size: for i = 0 to m - 1, places i and i + below(N - i, u_i) are exchanged. u is the sequence (permutation,
// the pair's number in pairs_of(), the deal's number) of src/kernels/statistics/random.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::statistics {

// Which p a number of deals can give.
struct Levels {
  bool are_all = false;
  std::size_t count = 0;  // deals that are looked at

  // How probable one at least as unequal is, where `unequal` of them are. Of those that were drawn the observed one is
  // one more: a p that can be too small is none (Phipson and Smyth 2010).
  double p_of(double unequal) const;
  // The least p there is.
  double least_p() const { return p_of(are_all ? 1 : 0); }
  // P(p <= `p`) where nothing differs: `p` where deals are drawn, else the greatest p there is at or below it.
  double level_of(double p) const;

  bool operator==(const Levels&) const = default;
};

class Deals {
 public:
  // All of them where there are no more than `most`.
  Deals(std::size_t first, std::size_t second, std::uint32_t most);

  const Levels& levels() const { return levels_; }
  std::size_t count() const { return levels_.count; }
  std::size_t videos() const { return videos_; }
  std::size_t chosen() const { return chosen_; }

  // The deal that was observed: chosen() places.
  void observed(std::uint16_t* out) const;

  // Room for one thread's work.
  struct Scratch {
    std::vector<std::uint16_t> places;
    std::vector<std::uint8_t> drawn;
  };
  // Deal `number` below count() of pair `pair`.
  void put(std::uint64_t seed, std::uint32_t pair, std::uint32_t number, Scratch& scratch, std::uint16_t* out) const;

 private:
  std::size_t videos_, chosen_, first_;
  bool alike_;
  Levels levels_;
  std::vector<std::uint16_t> all_;  // [count, chosen], where there are all
};

}  // namespace millrace::statistics
