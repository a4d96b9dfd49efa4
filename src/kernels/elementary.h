// Input: one number.
// Output: its logarithm, exponential or arc cosine, or the cosine of a fraction of a turn. The bits are the same on
// every machine, unlike those of the machines' own libraries.
// Never: is as fast as a library's function on many numbers at once.
#pragma once

#include <cmath>

namespace millrace {

// Returns cos(2 pi m / n) for any m and n > 0. Reflection into the first quadrant makes equal magnitudes equal bits, so
// that antisymmetric sums cancel exactly. Long double results round to the same double with every machine's own
// library.
inline double cosine_of_turn(long m, long n) {
  // From here on m counts quarters of 1 / n of a turn.
  m = 4 * (m % n);
  if (m < 0) m += 4 * n;
  if (m > 2 * n) m = 4 * n - m;
  const bool negative = m > n;
  if (negative) m = 2 * n - m;
  if (m == n) return 0.0;
  const long double angle =
      3.14159265358979323846264338327950288L * static_cast<long double>(m) / (2.0L * static_cast<long double>(n));
  const auto value = static_cast<double>(std::cos(angle));
  return negative ? -value : value;
}

// Returns sin(2 pi m / n) = cos(2 pi (m / n - 1 / 4)).
inline double sine_of_turn(long m, long n) { return cosine_of_turn(4 * m - n, 4 * n); }

// Returns the natural logarithm of a finite x > 0, to about 2e-16. With x = m 2^e and m between sqrt(1/2) and sqrt(2),
// log m = 2 artanh((m - 1) / (m + 1)) by its series.
inline double logarithm(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return 2 * s * sum + exponent * 0.69314718055994531;
}

// Returns log(1 + x) of a finite x > -1, with a relative error of about 4e-16, even where 1 + x rounds to 1.
inline double logarithm_of_one_plus(double x) {
  if (x < -0.29 || x > 0.41) return logarithm(1 + x);
  const double s = x / (2 + x), s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return 2 * s * sum;
}

// Returns e to the power of x, to within 2 units in the last place. It is 2^n times the series of the remainder, which
// is at most half of log 2. Returns zero or infinity beyond the range of a double.
inline double exponential(double x) {
  constexpr double kLog2High = 6.93147180369123816490e-01, kLog2Low = 1.90821492927058770002e-10;
  constexpr double kMaxExponent = 750;
  if (x > kMaxExponent) x = kMaxExponent;
  if (x < -kMaxExponent) x = -kMaxExponent;
  const double n = std::nearbyint(x / 6.93147180559945309417e-01);
  const double r = (x - n * kLog2High) - n * kLog2Low;
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * r / k;
  return std::ldexp(sum, static_cast<int>(n));
}

// Returns the arc cosine, from 0 to pi, of x clamped to [-1, 1]. It uses acos x = 2 atan sqrt((1 - x) / (1 + x)). The
// angle is halved by atan z = 2 atan(z / (1 + sqrt(1 + z^2))) until the series is short.
inline double arc_cosine(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x >= 1) return 0;
  if (x <= -1) return kPi;
  double z = std::sqrt((1 - x) / (1 + x));
  const bool steep = z > 1;
  if (steep) z = 1 / z;
  for (int i = 0; i < 3; ++i) z = z / (1 + std::sqrt(1 + z * z));
  const double square = z * z;
  double series = 0;
  for (int k = 19; k >= 1; k -= 2) series = 1.0 / k - square * series;
  const double angle = 16 * z * series;
  return steep ? kPi - angle : angle;
}

}  // namespace millrace
