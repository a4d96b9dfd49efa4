// Input: a square of small pixels.
// Output: its lowest DCT-II coefficients.
// Never: normalises: each coefficient is 4 times the plain double sum, as two calls of scipy.fftpack.dct give it.
#pragma once

#include <cstdint>
#include <vector>

namespace millrace {

// The two-dimensional DCT-II of size x size pixels, along columns, then along rows, unnormalised (factor 2 an axis):
//   X[u] = 2 sum_k x[k] cos(pi u (2k + 1) / (2 size)).
// Returns the first `keep` coefficients of each axis, row-major, [v * keep + u] with v the vertical frequency.
//
// Sums run in double from k = 0 upward, on every machine the same. Coefficients below 1e-6 in magnitude become
// exactly zero: the true ones are zero there (symmetric and flat pictures), and the sign of rounding noise must not
// decide a bit. 1e-6 lies far above the noise (size^2 * 255 * 2^-52 < 1e-9 for size <= 512) and far below any
// coefficient that differs in a real picture.
std::vector<double> dct_low(const std::uint8_t* pixels, int size, int keep);

// Weights of the sums: [u * size + k] is 2 cos(pi u (2k + 1) / (2 size)).
std::vector<double> dct_cosines(int size, int keep);
// Returns the coefficient for a sum, with rounding noise set to zero.
inline double dct_without_noise(double sum) { return sum < 1e-6 && sum > -1e-6 ? 0.0 : sum; }

}  // namespace millrace
