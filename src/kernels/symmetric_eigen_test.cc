#include "src/kernels/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace millrace {
namespace {

TEST(SymmetricEigen, OfAKnownMatrix) {
  // The eigenvectors are (1, 1) and (1, -1), over sqrt(2).
  const Eigen found = eigenvectors({2, 1, 1, 2}, 2, 2);
  EXPECT_NEAR(found.values[0], 3, 1e-15);
  EXPECT_NEAR(found.values[1], 1, 1e-15);
  const double root = 1 / std::sqrt(2.0);
  EXPECT_NEAR(found.vectors[0], root, 1e-15);
  EXPECT_NEAR(found.vectors[1], root, 1e-15);
  EXPECT_NEAR(std::fabs(found.vectors[2]), root, 1e-15);
  EXPECT_NEAR(found.vectors[2], -found.vectors[3], 1e-15);
}

TEST(SymmetricEigen, VectorsAreWhatTheMatrixOnlyStretches) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{17}, std::size_t{64}}) {
    std::mt19937 random(static_cast<unsigned>(n));
    std::vector<double> a(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        // Whole numbers of few sizes give repeated eigenvalues.
        a[i * n + j] = a[j * n + i] = i == j || random() % 3 == 0 ? static_cast<double>(random() % 5) : 0;
    const Eigen found = eigenvectors(a, n, n);
    const std::vector<double> values = eigenvalues(a, n);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_EQ(found.values[k], values[k]);
      const double* const v = found.vectors.data() + k * n;
      double largest = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += a[i * n + j] * v[j];
        EXPECT_NEAR(sum, values[k] * v[i], 1e-12 * static_cast<double>(n));
        if (std::fabs(v[i]) > std::fabs(largest)) largest = v[i];
      }
      EXPECT_GT(largest, 0);
      for (std::size_t l = 0; l <= k; ++l) {
        double product = 0;
        for (std::size_t i = 0; i < n; ++i) product += v[i] * found.vectors[l * n + i];
        EXPECT_NEAR(product, k == l ? 1 : 0, 1e-13);
      }
    }
    EXPECT_EQ(eigenvectors(a, n, 1).vectors,
              std::vector<double>(found.vectors.begin(), found.vectors.begin() + static_cast<std::ptrdiff_t>(n)));
  }
}

TEST(SymmetricEigen, OfZerosEverythingIsZero) {
  const Eigen found = eigenvectors(std::vector<double>(9), 3, 2);
  EXPECT_EQ(found.values, std::vector<double>(2));
}

}  // namespace
}  // namespace millrace
