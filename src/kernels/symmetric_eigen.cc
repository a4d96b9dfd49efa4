#include "src/kernels/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace millrace {
namespace {

// Reduces a symmetric matrix to a diagonal and the entries beside it by Householder reflections from both sides
// (8.3.1). If `reflections` [n, n] is not empty, it receives the reflections' vectors, one per row, and `lengths` their
// squared lengths.
void tridiagonalize(std::vector<double>& a, std::size_t n, std::vector<double>& diagonal, std::vector<double>& beside,
                    std::vector<double>& reflections, std::vector<double>& lengths) {
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
    if (!reflections.empty()) {
      std::copy(v.begin(), v.end(), reflections.begin() + static_cast<std::ptrdiff_t>(k * n));
      lengths[k] = length;
    }
    if (length == 0) continue;
    // The matrix is symmetric to the bit, so rows can replace columns, and whole rows are vectorised.
    for (std::size_t i = k + 1; i < n; ++i) w[i] = 0;
    for (std::size_t j = k + 1; j < n; ++j)
      for (std::size_t i = k + 1; i < n; ++i) w[i] += a[j * n + i] * v[j];
    double along = 0;
    for (std::size_t i = k + 1; i < n; ++i) {
      w[i] = 2 * w[i] / length;
      along += w[i] * v[i];
    }
    for (std::size_t i = k + 1; i < n; ++i) w[i] -= along / length * v[i];
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
  }
  for (std::size_t k = 0; k < n; ++k) diagonal[k] = a[k * n + k];
  if (n > 1) beside[n - 2] = a[(n - 1) * n + n - 2];
}

// Does one step of the implicit QR method with Wilkinson's shift, on rows `begin` to `end` - 1 (8.3.2). The rotations
// are also applied to the rows of `vectors` [n, n], unless it is empty.
void chase(std::vector<double>& d, std::vector<double>& e, std::size_t begin, std::size_t end,
           std::vector<double>& vectors) {
  const std::size_t last = end - 1, n = d.size();
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
    if (vectors.empty()) continue;
    double *const upper = vectors.data() + k * n, *const lower = upper + n;
    for (std::size_t i = 0; i < n; ++i) {
      const double from_upper = upper[i], from_lower = lower[i];
      upper[i] = c * from_upper + s * from_lower;
      lower[i] = c * from_lower - s * from_upper;
    }
  }
}

void diagonalize(std::vector<double>& d, std::vector<double>& e, std::vector<double>& vectors) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  constexpr int kMaxSteps = 60;  // per eigenvalue; two or three are usual
  std::size_t end = d.size();
  for (int steps = 0; end > 1;) {
    std::size_t begin = end - 1;
    for (; begin > 0; --begin) {
      if (std::fabs(e[begin - 1]) <= kEpsilon * (std::fabs(d[begin - 1]) + std::fabs(d[begin]))) break;
    }
    if (begin == end - 1 || ++steps > kMaxSteps) {
      --end;
      steps = 0;
      continue;
    }
    chase(d, e, begin, end, vectors);
  }
}

}  // namespace

std::vector<double> eigenvalues(std::vector<double> a, std::size_t n) {
  std::vector<double> d(n), e(n), none;
  tridiagonalize(a, n, d, e, none, none);
  diagonalize(d, e, none);
  std::sort(d.rbegin(), d.rend());
  return d;
}

Eigen eigenvectors(std::vector<double> a, std::size_t n, std::size_t wanted) {
  std::vector<double> d(n), e(n), reflections(n * n), lengths(n), turned(n * n);
  tridiagonalize(a, n, d, e, reflections, lengths);
  for (std::size_t i = 0; i < n; ++i) turned[i * n + i] = 1;
  diagonalize(d, e, turned);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return d[i] > d[j]; });

  Eigen out{std::vector<double>(wanted), std::vector<double>(wanted * n)};
  for (std::size_t k = 0; k < wanted; ++k) {
    out.values[k] = d[order[k]];
    double* const vector = out.vectors.data() + k * n;
    std::copy_n(turned.begin() + static_cast<std::ptrdiff_t>(order[k] * n), n, vector);
    // Applies the reflections in reverse order.
    for (std::size_t r = n; r-- > 0;) {
      if (lengths[r] == 0) continue;
      const double* const v = reflections.data() + r * n;
      double along = 0;
      for (std::size_t i = r + 1; i < n; ++i) along += v[i] * vector[i];
      const double twice = 2 * along / lengths[r];
      for (std::size_t i = r + 1; i < n; ++i) vector[i] -= twice * v[i];
    }
    std::size_t largest = 0;
    for (std::size_t i = 1; i < n; ++i)
      if (std::fabs(vector[i]) > std::fabs(vector[largest])) largest = i;
    if (n > 0 && vector[largest] < 0)
      for (std::size_t i = 0; i < n; ++i) vector[i] = -vector[i];
  }
  return out;
}

}  // namespace millrace
