#include <cstddef>

#include "src/kernels/dct/dct.h"
#include "src/kernels/elementary.h"

namespace millrace {
std::vector<double> dct_cosines(int size, int keep) {
  const auto n = static_cast<std::size_t>(size);
  const auto low = static_cast<std::size_t>(keep);
  std::vector<double> cosines(low * n);
  for (std::size_t u = 0; u < low; ++u) {
    for (std::size_t k = 0; k < n; ++k) {
      cosines[u * n + k] = 2.0 * cosine_of_turn(static_cast<long>(u * (2 * k + 1)), 4 * static_cast<long>(size));
    }
  }
  return cosines;
}

std::vector<double> dct_low(const std::uint8_t* pixels, int size, int keep) {
  const auto n = static_cast<std::size_t>(size);
  const auto low = static_cast<std::size_t>(keep);
  const std::vector<double> cosines = dct_cosines(size, keep);
  // Columns are transformed first; only `keep` rows of the result are ever used.
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
      out[v * low + u] = dct_without_noise(sum);
    }
  }
  return out;
}

}  // namespace millrace
