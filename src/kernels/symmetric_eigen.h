// Input: a symmetric matrix.
// Output: its eigenvalues and, if requested, its eigenvectors, from basic operations in a fixed order.
// Never: fails: an eigenvalue that has not converged after very many steps is returned as it is.
//
// Source: Golub and Van Loan, Matrix Computations, 8.3: Householder's tridiagonal form, then the implicit QR method.
#pragma once

#include <cstddef>
#include <vector>

namespace millrace {

// Returns the eigenvalues of a symmetric [n, n], largest first.
std::vector<double> eigenvalues(std::vector<double> matrix, std::size_t n);

struct Eigen {
  std::vector<double> values;   // the `wanted` largest, in descending order; equal ones in the order they were found
  std::vector<double> vectors;  // [wanted, n], each of length 1; the first entry of largest magnitude is > 0
};
// Computes the `wanted` largest eigenvalues and their vectors; `wanted` is at most n. About 6 n^3 operations.
Eigen eigenvectors(std::vector<double> matrix, std::size_t n, std::size_t wanted);

}  // namespace millrace
