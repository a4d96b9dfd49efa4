// Input: two samples.
// Output: how much they differ, and how probable that is where nothing differs.
// Never: makes up a number: what is not defined is NaN, with a reason.
//
// Sources: Welch (1947) and Satterthwaite (1946) for t and its degrees of freedom; Cohen (1988) for d; Hedges (1981)
// for g, by the exact correction J(df) of df = n1 + n2 - 2, not by 1 - 3 / (4 df - 1); Mann and Whitney (1947) for U.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

// Of one sample; NaN in it is left out. In two passes, the second about the first one's mean.
struct Moments {
  std::size_t count = 0;
  double mean = kNoNumber;       // of at least one
  double mean_rest = 0;          // what rounding took from it: means may lie close together far from 0
  double deviation = kNoNumber;  // T: ddof 1, of at least two; exactly 0 where all are equal
};
Moments moments_of(std::span<const double> sample);

// Of the mean of at least two, by Student's t with one degree of freedom less than there are.
Interval interval_of(const Moments& moments);

// Why two samples have no p. A deviation of at most 2^-52 of the mean is none. Where both are constant there is none
// either if they differ: t would be infinite, and its p 0 on no evidence of what varies.
Reason reason_between(const Moments& first, const Moments& second);

struct Comparison {
  std::array<Moments, 2> moments;
  Reason reason = Reason::none;
  // NaN where there is a reason. Signs are those of the first mean less the second.
  double t = kNoNumber, df = kNoNumber, p = kNoNumber;
  Interval difference;          // of the means, by Welch's t
  double cohens_d = kNoNumber;  // by the pooled deviation
  double hedges_g = kNoNumber;
  // Pairs in which the first sample's value is the greater, equal ones half; of at least one value each.
  double u = kNoNumber;
  // Two-sided, by the normal distribution, with corrections for ties and continuity.
  double u_p = kNoNumber;
};
Comparison compare(std::span<const double> first, std::span<const double> second);

}  // namespace millrace::statistics
