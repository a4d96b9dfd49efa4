#include <cmath>
#include <cstddef>

#include "src/kernels/dct/dct.h"

namespace millrace {
namespace {

// cos(pi m / (2 size)) for any m, by reflection into the first quadrant, so that equal magnitudes are equal bits and
// antisymmetric sums cancel exactly. Long double rounds to the same double on every machine's own libm.
double quarter_cosine(long m, int size) {
  const long quadrant = size;
  m %= 4 * quadrant;
  if (m > 2 * quadrant) m = 4 * quadrant - m;
  const bool negative = m > quadrant;
  if (negative) m = 2 * quadrant - m;
  if (m == quadrant) return 0.0;
  const long double angle = 3.14159265358979323846264338327950288L * static_cast<long double>(m) / (2.0L * size);
  const auto value = static_cast<double>(std::cos(angle));
  return negative ? -value : value;
}

}  // namespace

std::vector<double> dct_low(const std::uint8_t* pixels, int size, int keep) {
  const auto n = static_cast<std::size_t>(size);
  const auto low = static_cast<std::size_t>(keep);
  std::vector<double> cosines(low * n);
  for (std::size_t u = 0; u < low; ++u) {
    for (std::size_t k = 0; k < n; ++k) {
      cosines[u * n + k] = 2.0 * quarter_cosine(static_cast<long>(u * (2 * k + 1)), size);
    }
  }
  // Down the columns first; only `keep` rows of the result are ever used.
  std::vector<double> half(low * n, 0.0);
  for (std::size_t v = 0; v < low; ++v) {
    for (std::size_t k = 0; k < n; ++k) {
      const double c = cosines[v * n + k];
      for (std::size_t x = 0; x < n; ++x) half[v * n + x] += c * pixels[k * n + x];
    }
  }
  std::vector<double> out(low * low, 0.0);
  for (std::size_t v = 0; v < low; ++v) {
    for (std::size_t u = 0; u < low; ++u) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += cosines[u * n + k] * half[v * n + k];
      out[v * low + u] = std::fabs(sum) < 1e-6 ? 0.0 : sum;
    }
  }
  return out;
}

}  // namespace millrace
