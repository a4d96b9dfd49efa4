#include "src/kernels/statistics/distributions.h"

#include <cmath>
#include <limits>

#include "src/kernels/elementary.h"

namespace millrace::statistics {
namespace {

constexpr double kHalfLogOfTurn = 0.918938533204672741780;  // log(2 pi) / 2
constexpr double kRootOfPi = 1.772453850905516027298;
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
// Value that replaces a denominator of zero in Lentz's method.
constexpr double kTiny = 1e-300;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Returns what log gamma has beyond (z - 1/2) log z - z + log(2 pi) / 2 (DLMF 5.11.1). The large terms have already
// cancelled in differences of these. Differences of log gamma itself would lose precision: 1e-9 at a million degrees of
// freedom.
double stirling_error(double z) {
  // Coefficients B_2k / (2k (2k - 1)) for k = 1 to 8: the next term is below 1e-17 from z = 10 on.
  constexpr double kTerms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  double more = 0;
  while (z < 10) {
    more += (z + 0.5) * logarithm_of_one_plus(1 / z) - 1;
    z += 1;
  }
  const double square = 1 / (z * z);
  double sum = 0;
  for (int k = 7; k >= 0; --k) sum = sum * square + kTerms[k];
  return more + sum / z;
}

double kept_from_zero(double x) { return std::fabs(x) < kTiny ? kTiny : x; }

// Returns a B(a, b) I_x(a, b) / (x^a (1 - x)^b): the continued fraction 8.17.22 of DLMF by the modified method of
// Lentz.
double beta_fraction(double a, double b, double x) {
  constexpr int kMaxTerms = 100000;  // iterations; about the square root of the greater of a and b is needed
  double value = 1, c = 1, d = 0;
  for (int j = 1; j <= kMaxTerms; ++j) {
    const int half = j / 2;
    const double m = half, twice = 2 * m;
    const double term = j % 2 == 0 ? m * (b - m) * x / ((a + twice - 1) * (a + twice))
                                   : -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1));
    d = 1 / kept_from_zero(1 + term * d);
    c = kept_from_zero(1 + term / c);
    value *= c * d;
    if (std::fabs(c * d - 1) <= kEpsilon) break;
  }
  return 1 / value;
}

// Share of a whole and its logarithm, each as exact as the other.
struct Share {
  double part, log;
};

// Returns the regularized incomplete beta function I_x(a, b). Both x and 1 - x are given, with their logarithms.
double incomplete_beta_of(double a, double b, const Share& x, const Share& rest) {
  // Logarithm of x^a (1 - x)^b / B(a, b), about the most probable x.
  const double log_front = a * (x.log + logarithm_of_one_plus(b / a)) + b * (rest.log + logarithm_of_one_plus(a / b)) +
                           (logarithm(a) + logarithm(b) - logarithm(a + b)) / 2 - kHalfLogOfTurn +
                           stirling_error(a + b) - stirling_error(a) - stirling_error(b);
  const double front = exponential(log_front);
  // The fraction converges fast on this side of the mean.
  if (x.part * (a + b + 2) < a + 1) return front * beta_fraction(a, b, x.part) / a;
  return 1 - front * beta_fraction(b, a, rest.part) / b;
}

}  // namespace

double student_two_sided(double t, double df) {
  if (!(df > 0) || t != t) return kNotANumber;
  if (t == 0) return 1;
  if (std::isinf(t)) return 0;
  // x = df / (df + t^2), by whichever of t / sqrt(df) and its inverse cannot overflow.
  const double ratio = std::fabs(t) / std::sqrt(df);
  const bool far = ratio > 1;
  const double less = far ? 1 / ratio : ratio, square = less * less;
  const double log_sum = logarithm_of_one_plus(square);
  const Share small = {square / (1 + square), 2 * logarithm(less) - log_sum}, large = {1 / (1 + square), -log_sum};
  return far ? incomplete_beta_of(df / 2, 0.5, small, large) : incomplete_beta_of(df / 2, 0.5, large, small);
}

double student_critical(double p, double df) {
  if (!(df > 0 && p > 0 && p <= 1)) return kNotANumber;
  // Twice the density at t: 2 gamma((df + 1) / 2) / (sqrt(df pi) gamma(df / 2)) (1 + t^2 / df)^(-(df + 1) / 2).
  const double m = df / 2;
  const double log_front = 0.5 * logarithm(m) + m * logarithm_of_one_plus(0.5 / m) - 0.5 + stirling_error(m + 0.5) -
                           stirling_error(m) - 0.5 * logarithm(df) + logarithm(2 / kRootOfPi);
  // P is convex beyond 0: Newton's steps from there go up, and never too far.
  constexpr int kMaxTerms = 200;
  double t = 0;
  for (int i = 0; i < kMaxTerms; ++i) {
    const double above = student_two_sided(t, df) - p;
    const double step = above / exponential(log_front - (m + 0.5) * logarithm_of_one_plus(t * t / df));
    if (!(step > 1e-15 * t)) break;
    t += step;
  }
  return t;
}

double normal_two_sided(double z) {
  if (z != z) return kNotANumber;
  z = std::fabs(z);
  if (z > 40) return 0;
  const double x = z / std::sqrt(2.0), bell = exponential(-z * z / 2);
  if (x < 2) {
    // erf x = 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 ...) (DLMF 7.6.2).
    double term = x, sum = x;
    for (int n = 1; term > kEpsilon * sum / 8; ++n) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 1 - 2 / kRootOfPi * bell * sum;
  }
  // sqrt(pi) e^(x^2) erfc x = 1 / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...)))) (DLMF 7.9.1), from the inside out.
  double fraction = x;
  for (int n = 120; n >= 1; --n) fraction = x + n / 2.0 / fraction;
  return bell / (kRootOfPi * fraction);
}

double hedges_correction(double df) {
  if (!(df > 1)) return kNotANumber;
  const double m = df / 2;
  return exponential(-(m - 1) * logarithm_of_one_plus(-0.5 / m) - 0.5 + stirling_error(m) - stirling_error(m - 0.5));
}

}  // namespace millrace::statistics
