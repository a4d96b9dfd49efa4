#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/latents/latents_finish.h"

namespace millrace::latents {
namespace {

// Householder's reflections, from the left and from the right, leave a diagonal and what is beside it (Golub and Van
// Loan, Matrix Computations, 8.3.1).
void tridiagonalize(std::vector<double>& a, std::size_t n, std::vector<double>& diagonal, std::vector<double>& beside) {
  std::vector<double> v(n), w(n);
  for (std::size_t k = 0; k + 2 < n; ++k) {
    double squares = 0;
    for (std::size_t i = k + 1; i < n; ++i) {
      v[i] = a[i * n + k];
      squares += v[i] * v[i];
    }
    const double norm = std::sqrt(squares);
    const double reflected = v[k + 1] > 0 ? -norm : norm;
    beside[k] = reflected;
    v[k + 1] -= reflected;
    double length = 0;
    for (std::size_t i = k + 1; i < n; ++i) length += v[i] * v[i];
    if (length == 0) continue;
    double along = 0;
    for (std::size_t i = k + 1; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = k + 1; j < n; ++j) sum += a[i * n + j] * v[j];
      w[i] = 2 * sum / length;
      along += w[i] * v[i];
    }
    for (std::size_t i = k + 1; i < n; ++i) w[i] -= along / length * v[i];
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
  }
  for (std::size_t k = 0; k < n; ++k) diagonal[k] = a[k * n + k];
  if (n > 1) beside[n - 2] = a[(n - 1) * n + n - 2];
}

// One step of the implicit QR method with Wilkinson's shift, on rows `begin` to `end` - 1 (8.3.2).
void chase(std::vector<double>& d, std::vector<double>& e, std::size_t begin, std::size_t end) {
  const std::size_t last = end - 1;
  const double half = (d[last - 1] - d[last]) / 2, square = e[last - 1] * e[last - 1];
  const double root = std::sqrt(half * half + square);
  double x = d[begin] - (d[last] - square / (half + (half < 0 ? -root : root))), z = e[begin];
  for (std::size_t k = begin; k < last; ++k) {
    const double length = std::sqrt(x * x + z * z);
    const double c = length == 0 ? 1 : x / length, s = length == 0 ? 0 : z / length;
    if (k > begin) e[k - 1] = length;
    const double a = d[k], b = e[k], f = d[k + 1];
    d[k] = c * c * a + 2 * c * s * b + s * s * f;
    d[k + 1] = s * s * a - 2 * c * s * b + c * c * f;
    e[k] = c * s * (f - a) + (c * c - s * s) * b;
    x = e[k];
    if (k + 1 < last) {
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
  }
}

}  // namespace

std::vector<double> eigenvalues(std::vector<double> a, std::size_t n) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  constexpr int kMostSteps = 60;  // of one eigenvalue; two or three are usual
  std::vector<double> d(n), e(n);
  tridiagonalize(a, n, d, e);
  std::size_t end = n;
  for (int steps = 0; end > 1;) {
    std::size_t begin = end - 1;
    for (; begin > 0; --begin) {
      if (std::fabs(e[begin - 1]) <= kEpsilon * (std::fabs(d[begin - 1]) + std::fabs(d[begin]))) break;
    }
    if (begin == end - 1 || ++steps > kMostSteps) {
      --end;
      steps = 0;
      continue;
    }
    chase(d, e, begin, end);
  }
  std::sort(d.rbegin(), d.rend());
  return d;
}

}  // namespace millrace::latents
