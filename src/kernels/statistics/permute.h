// Input: a table of videos in groups, and which comparisons are one family of tests.
// Output: for each pair of groups and column, how often |Welch's t| is as great when videos are permuted.
// Never: separates the columns of a video: a permutation moves all of them together, so that their dependence is kept.
//
// The videos of a pair are permuted in all ways if there are no more than `most` of these, else in `most` random ways:
// src/kernels/statistics/permutation_set.h. All columns of a pair have the same permutations.
//
// The raw p is the share of permutations with |t*| >= |t|. The familywise p within a pair is the share of permutations
// whose greatest |t*| over the pair's columns of the family is >= |t|. That is the single-step maxT of Westfall and
// Young (1993). Over pairs it is 1 - the product over pairs of (1 - P(p* <= p)), the least p of Sidak (1967). A pair of
// few videos that cannot have so small a p takes nothing from the others (Tarone 1990). Two videos against two have a
// large |t| by chance alone, and a maximum over pairs would let them hide what larger groups show.
//
// Each pair is permuted by itself. A permutation over all groups would ask whether all groups are equal. If a third
// group differs, its videos would widen both sides of an equal pair, and hide or make a difference there.
//
// The comparison >= has a margin of 1e-12 of |t|, plus 1e-12. A split as unequal as the observed one counts, however
// its sums were rounded. In a column that videos lack, sides are the videos that have it; with fewer than two of them
// t* is 0. Both sides are constant if all but 1e-12 of the squares lie between them. Then |t*| is infinite: their means
// differ, or the pair had no p.
//
// If the videos of one group vary more than those of the other, and the groups have different sizes, their videos are
// not exchangeable. In large groups Welch's t makes up for that; in small ones it does so only for the most part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

struct PermutationResult {
  // [pairs, columns]; NaN where compare() has a reason for no p, which is in `reason`. Outside of the family,
  // familywise is NaN too.
  std::vector<double> raw, familywise;
  std::vector<UntestedReason> reason;
  // [pairs]: smallest familywise p that the groups' sizes allow; 1 for a pair without one.
  std::vector<double> least;
};

// Holds 8 to 24 bytes for each value of one pair, 8 for each permutation, and 2 for each stored place. `family` [pairs,
// columns] is not 0 for comparisons that belong to it. Throws Failure(usage) as check() does, or if `family` has
// another size; throws Failure(cancelled).
PermutationResult permute(const SampleTable& table, std::span<const std::uint8_t> family, std::uint64_t seed,
                          std::uint32_t most, const Executor& executor);

}  // namespace millrace::statistics
