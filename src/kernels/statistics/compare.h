// Input: two samples.
// Output: how much they differ, and how probable that is where nothing differs.
// Never: makes up a number: an undefined number is NaN, with a reason.
//
// Sources: Welch (1947) and Satterthwaite (1946) for t and its degrees of freedom; Cohen (1988) for d; Mann and Whitney
// (1947) for U. The source for g is Hedges (1981), with the exact correction J(df) of df = n1 + n2 - 2, not with 1 - 3
// / (4 df - 1).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

// Moments of one sample without its NaN, computed in two passes, the second about the mean of the first.
struct Moments {
  std::size_t count = 0;
  double mean = kNoNumber;       // mean of at least one value
  double mean_rest = 0;          // rounding error of `mean`: means may lie close together far from 0
  double deviation = kNoNumber;  // sample deviation (ddof 1) of at least two values; exactly 0 if all are equal
};
Moments moments_of(std::span<const double> sample);

// Interval of 95 % of the mean of at least two values, by Student's t with count - 1 degrees of freedom.
Interval interval_of(const Moments& moments);

// Returns the reason why two samples have no p. A deviation of at most 2^-52 of the mean counts as none. Two constant
// samples have no p even if they differ: t would be infinite, and p would be 0 without evidence of any spread.
UntestedReason find_untested_reason(const Moments& first, const Moments& second);

struct SampleComparison {
  std::array<Moments, 2> moments;
  UntestedReason reason = UntestedReason::none;
  // NaN where there is a reason. Signs are those of the first mean less the second.
  double t = kNoNumber, df = kNoNumber, p = kNoNumber;
  Interval difference;          // interval of the difference of means, by Welch's t
  double cohens_d = kNoNumber;  // difference over the pooled deviation
  double hedges_g = kNoNumber;
  // Mann and Whitney's U: the number of pairs in which the first sample's value is greater; ties count a half. Each
  // sample needs a value.
  double u = kNoNumber;
  // Two-sided p of U by the normal distribution, with corrections for ties and continuity.
  double u_p = kNoNumber;
};
SampleComparison compare(std::span<const double> first, std::span<const double> second);

}  // namespace millrace::statistics
