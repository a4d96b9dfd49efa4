// Input: a table of videos in groups.
// Output: an interval for each group's mean, and for each difference of two, of every column.
// Never: resamples anything but whole videos, or mixes groups.
//
// A replicate b draws for every group g as many videos as the group has in a column: number i of the sequence
// (bootstrap, g, b) of src/kernels/statistics/random.h, u, is the video below(n, u) of the n that have the column, in
// the table's order. So columns without holes have the same videos. An interval is from the 2.5 % to the 97.5 %
// quantile of the replicates' means, or of differences of the two groups' means of the same replicate (Efron's
// percentiles), with numpy.quantile's linear interpolation. Of few videos these intervals are too narrow, for what is
// drawn anew varies less than what was drawn: of normal numbers, of two against two 67 % hold the difference, of eight
// against eight 91 %. Student's and
// Welch's intervals (compare.h) have no such fault where numbers are about normal.
#pragma once

#include <cstdint>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

struct Intervals {
  std::vector<Interval> means;        // [groups, columns]; NaN with fewer than two videos
  std::vector<Interval> differences;  // [pairs, columns]; the first group's less the second's; NaN where either's is
};

// Holds 4 bytes for each of rows x replicates, and 64 for each of groups x replicates a thread. `replicates` of at
// least 1. Failure(usage) as check(). Failure(cancelled).
Intervals bootstrap(const Table& table, std::uint64_t seed, std::uint32_t replicates, const Executor& executor);

}  // namespace millrace::statistics
