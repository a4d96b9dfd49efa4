// Input: a symmetric matrix.
// Output: its eigenvalues and, if asked for, its eigenvectors, from basic operations in one order.
// Never: fails: what has not converged after very many steps is given as it is.
//
// Source: Golub and Van Loan, Matrix Computations, 8.3: Householder's tridiagonal form, then the implicit QR method.
#pragma once

#include <cstddef>
#include <vector>

namespace millrace {

// Of a symmetric [n, n], the greatest first.
std::vector<double> eigenvalues(std::vector<double> matrix, std::size_t n);

struct Eigen {
  std::vector<double> values;   // the `wanted` greatest, the greatest first, equal ones in the order they were found
  std::vector<double> vectors;  // [wanted, n], each of length 1; the entry of largest size, of equals the first, is > 0
};
// `wanted` of at most n. About 6 n^3 operations.
Eigen eigenvectors(std::vector<double> matrix, std::size_t n, std::size_t wanted);

}  // namespace millrace
