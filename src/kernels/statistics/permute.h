// Input: a table of videos in groups, and which comparisons are one family of tests.
// Output: for each pair of groups and column, how often |Welch's t| is as great when videos are dealt anew.
// Never: takes a video apart: a deal moves all of its columns together, so that how they depend is kept.
//
// A pair's videos are dealt in all ways where there are no more than `most` of these, else in `most` that are drawn:
// src/kernels/statistics/deals.h. All columns of a pair have the same deals.
//
// raw: of deals with |t*| >= |t|. familywise, within a pair: of deals whose greatest |t*| over the pair's columns of
// the family is >= |t|: the single-step maxT of Westfall and Young (1993). Over pairs: 1 - the product over pairs of (1
// - P(p* <= p)), the least p of Sidak (1967), where a pair of few videos that cannot have so small a p takes nothing
// from the others (Tarone 1990): the |t| of two videos against two are large by chance alone, and a maximum over pairs
// would have them hide what larger groups show. Pairs are dealt each by itself: one deal over all groups would ask
// whether all groups are equal; where a third group differs its videos would widen both sides of an equal pair and
// hide, or make, a difference there.
//
// >= has a margin of 1e-12 of |t| and of 1e-12: a split as unequal as the observed one counts, however its sums were
// rounded. In a column that videos lack, sides are what is left of them; with fewer than two t* is 0. Where both sides
// are constant (all but 1e-12 of the squares lie between them) |t*| is infinite: their means differ, or the pair had no
// p.
//
// Where the videos of one group vary more than those of the other and the groups are of other sizes, videos cannot be
// dealt anew as if they were alike; Welch's t makes up for it in large groups, and only for the most part in small
// ones.
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
  // [pairs]: the least familywise p that its groups' sizes allow; 1 where it has none.
  std::vector<double> least;
};

// Holds 8 to 24 bytes for each value of one pair, and 8 for each of its deals and places. `family` [pairs, columns] is
// not 0 where a comparison belongs to it. Failure(usage) as check(), or where it does not fit. Failure(cancelled).
Permutations permute(const Table& table, std::span<const std::uint8_t> family, std::uint64_t seed, std::uint32_t most,
                     const Executor& executor);

}  // namespace millrace::statistics
