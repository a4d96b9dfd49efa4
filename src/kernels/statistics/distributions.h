// Input: a statistic, and the parameters of its distribution.
// Output: how probable a statistic as extreme is: to 1e-9 of itself down to 1e-300, with the same bits on every
//   machine.
// Never: uses a machine's own mathematical library, except for a square root.
#pragma once

namespace millrace::statistics {

// P(|T| >= |t|) of Student's t with `df` > 0 degrees of freedom, which need not be whole. 0 for an infinite t.
double student_two_sided(double t, double df);

// The t for which student_two_sided(t, df) is `p`, 0 < p <= 1; to 1e-10 of itself. NaN for anything else.
double student_critical(double p, double df);

// P(|Z| >= |z|) of the standard normal distribution: erfc(|z| / sqrt(2)), to 1e-12 of itself.
double normal_two_sided(double z);

// Hedges' exact correction J(df) = gamma(df / 2) / (sqrt(df / 2) gamma((df - 1) / 2)) for df > 1.
double hedges_correction(double df);

}  // namespace millrace::statistics
