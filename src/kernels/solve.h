// Input: a small symmetric system of equations.
// Output: its solution, by Cholesky's method.
// Never: allocates, or solves a system that is not positive definite.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace millrace {

// Solves h x = b in place, where x holds b; reads only the lower half of `h`. False if h is not positive definite.
template <std::size_t N>
bool solve_positive(std::array<std::array<double, N>, N>& h, std::array<double, N>& x) {
  std::array<double, N> share;  // reciprocals of the diagonal: a division takes as long as a row of products
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = h[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= h[i][k] * h[j][k];
      if (i == j) {
        if (!(sum > 0)) return false;
        share[i] = 1 / std::sqrt(sum);
      } else {
        h[i][j] = sum * share[j];
      }
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= h[i][k] * x[k];
    x[i] *= share[i];
  }
  for (std::size_t i = N; i-- > 0;) {
    for (std::size_t k = i + 1; k < N; ++k) x[i] -= h[k][i] * x[k];
    x[i] *= share[i];
  }
  return true;
}

}  // namespace millrace
