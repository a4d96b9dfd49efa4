// Input: the number of codes, the radius, and how evenly each bit is used.
// Output: brute force, or the parts of a multi-index: which bits, and how many of them may differ.
// Never: reads all codes; a sample of about 4096 describes the bits.
//
// Pigeonhole with thresholds: cut (some of) the bits into parts and give part p a threshold t_p
// with sum(t_p + 1) = radius + 1. Two codes that differ in more than t_p bits of every part p
// differ in at least sum(t_p + 1) = radius + 1 bits; so each pair within range has a part with at
// most t_p differing bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

// Bits shift to shift + width of 64-bit word `word` of a permuted code.
struct IndexPart {
  int word = 0, shift = 0, width = 0;
  int threshold = 0;
  // Number of bits by which a code of 64 bits is stored rotated to the right. The part's bits are then its highest, and
  // its lowest 32 bits are others, so that one word decides most pairs. It is 0 for codes of 256 bits.
  int rotation = 0;
  // 32-bit words of a stored code, in the order in which their bits are counted, those without the part's bits first.
  // The first `tested` of them are counted for every pair.
  std::vector<int> columns;
  int tested = 1;

  std::uint64_t mask() const { return ((std::uint64_t{1} << width) - 1) << shift; }
};

struct JoinPlan {
  Algorithm algorithm = Algorithm::brute;
  std::vector<IndexPart> parts;      // brute force is one part of width 0
  std::vector<std::uint8_t> bit_at;  // bit `at` of a permuted code is bit bit_at[at] of the code
  bool permuted = false;
  double seconds = 0;  // expected by the model
  double brute_seconds = 0;
  std::string what;  // description without the times: "brute force compares 4,500 pairs"
  std::string why;
};

struct JoinProblem {
  int bits = 64;
  std::uint64_t a = 0, b = 0;  // codes on either side; for a self-join both are the number of nodes
  bool self = true;
  int radius = 0;
  int threads = 1;
  Algorithm wish = Algorithm::automatic;
  // Probability, for each bit, that two codes agree in it: 1/2 for the most informative bit, 1 for a constant one.
  std::vector<double> agree;
};

JoinPlan choose_plan(const JoinProblem& problem);

// Returns the seconds that one thread needs to compare this many pairs of codes in long runs.
double compare_seconds(double pairs, int tested);

// Returns all numbers of `width` bits in which 1 to `threshold` bits are set, in increasing order.
std::vector<std::uint32_t> list_flips(int width, int threshold);

}  // namespace millrace::hamming
