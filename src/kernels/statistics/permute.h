// Enters: a table of videos in groups, and which columns are one family of tests.
// Leaves: for each pair of groups and column, how often |Welch's t| is as great when videos are dealt anew.
// Never: takes a video apart: a shuffle moves all of its columns together, so that how they depend is kept.
//
// A shuffle of a pair: of its N videos, the first group's and then the second's, each in the table's order, the first m
// places after a partial shuffle of Fisher and Yates are one side, where m is the smaller group's size: for i = 0 to
// m - 1, places i and i + below(N - i, u_i) are exchanged. u is the sequence (permutation, the pair's number in
// pairs_of(), the shuffle's number) of src/kernels/statistics/random.h. All columns of a pair have the same shuffles.
//
// raw = (1 + shuffles with |t*| >= |t|) / (1 + shuffles). familywise = (1 + shuffles with max |t*| >= |t|) /
// (1 + shuffles), the maximum over the family's columns and all pairs: the single-step maxT of Westfall and Young
// (1993). Pairs are shuffled each by itself. One shuffle over all groups would ask whether all groups are equal; where
// a third group differs its videos would widen both sides of an equal pair and hide, or make, a difference there: tests
// of pairs have no subset pivotality under it.
//
// >= has a margin of 1e-12 of |t| and of 1e-12: a split as unequal as the observed one counts, however its sums were
// rounded. In a column that videos lack, sides are what is left of them; with fewer than two t* is 0. Where both sides
// are constant (all but 1e-12 of the squares lie between them) |t*| is infinite: their means differ, or the pair had no
// p.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

struct Permutations {
  // [pairs, columns]; NaN where compare() has a reason for no p, which is `reason` here. familywise is NaN outside of
  // the family, too.
  std::vector<double> raw, familywise;
  std::vector<Reason> reason;
};

// Holds 8 to 24 bytes for each value of one pair. `family` has a value a column, not 0 where the column
// belongs to it. Failure(usage) as check(), or where it does not fit. Failure(cancelled).
Permutations permute(const Table& table, std::span<const std::uint8_t> family, std::uint64_t seed,
                     std::uint32_t shuffles, const Executor& executor);

}  // namespace millrace::statistics
