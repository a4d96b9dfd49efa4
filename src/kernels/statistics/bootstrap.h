// Input: a table of videos in groups.
// Output: for every column, an interval for each group's mean, and for each difference of two means.
// Never: resamples anything but whole videos, or mixes groups.
//
// Replicate b draws for every group g as many videos as the group has in a column. Number i of the sequence (bootstrap,
// g, b) of src/kernels/statistics/random.h is u. It draws the video below(n, u) of the n that have the column, in the
// table's order. Columns without missing values therefore draw the same videos.
// An interval is from the 2.5 % to the 97.5 % quantile of the replicates (Efron's percentiles). The quantiles are those
// of their means, or of the differences of two groups' means in the same replicate. They are interpolated linearly, as
// by numpy.quantile. With few videos these intervals are too narrow, because a resample varies less than the sample.
// With normal numbers, 67 % hold the difference of two against two, and 91 % that of eight against eight. Student's and
// Welch's intervals (compare.h) do not have this fault if numbers are about normal.
#pragma once

#include <cstdint>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

struct Intervals {
  std::vector<Interval> means;        // [groups, columns]; NaN with fewer than two videos
  std::vector<Interval> differences;  // [pairs, columns]: first group less second; NaN if either mean's is
};

// Holds 4 bytes for each row and replicate, and per thread 64 for each group and replicate. `replicates` is at least 1.
// Throws Failure(usage) as check() does, and Failure(cancelled).
Intervals bootstrap(const SampleTable& table, std::uint64_t seed, std::uint32_t replicates, const Executor& executor);

}  // namespace millrace::statistics
