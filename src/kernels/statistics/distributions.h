// Enters: a statistic, and the parameters of its distribution.
// Leaves: how probable one as far out is, to 1e-9 of itself down to 1e-300, the same bits on every machine.
// Never: uses a machine's own mathematical library but for a square root.
#pragma once

namespace millrace::statistics {

// log of the gamma function of z > 0; to 1e-14 of itself, to 1e-14 near its zeros 1 and 2.
double log_gamma(double z);

// I_x(a, b) for a, b > 0 and x from 0 to 1 (DLMF 8.17.2). NaN for anything else. To 1e-9 of itself up to a, b of 1e6.
double incomplete_beta(double a, double b, double x);

// P(|T| >= |t|) of Student's t with `df` > 0 degrees of freedom, which need not be whole. 0 for an infinite t.
double student_two_sided(double t, double df);

// The t for which student_two_sided(t, df) is `p`, 0 < p <= 1; to 1e-10 of itself. NaN for anything else.
double student_critical(double p, double df);

// P(|Z| >= |z|) of the standard normal distribution: erfc(|z| / sqrt(2)), to 1e-12 of itself.
double normal_two_sided(double z);

// Hedges' exact correction J(df) = gamma(df / 2) / (sqrt(df / 2) gamma((df - 1) / 2)) for df > 1.
double hedges_correction(double df);

}  // namespace millrace::statistics
