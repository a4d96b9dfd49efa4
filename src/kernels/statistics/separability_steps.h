// Input: features of samples.
// Output: products of samples, centred; distances.
// Never: used from outside this folder.
#pragma once

#include <cstddef>

namespace millrace::statistics {

// Features that are summed together, in eight lanes, before their sum is added to the others': so many that those of
// eight samples fit L1.
inline constexpr std::size_t kFeatures = 512;
// Rows come in fours; those beyond the last are 0.
inline constexpr std::size_t rows_of(std::size_t samples) { return (samples + 3) / 4 * 4; }

// Of `count` <= kFeatures columns, rows `pitch` floats apart: less their means, to `block` [rows_of(samples),
// kFeatures]; what is left of that is 0. `inverse` [kFeatures] is one over the deviation (ddof 1), 0 of a constant.
void center(const float* features, std::size_t pitch, std::size_t samples, std::size_t count, double* block,
            double* inverse);
void scale(double* block, std::size_t samples, const double* inverse);
// Adds the products of samples i <= j to gram[i * rows_of(samples) + j]; what it adds for others is of no use.
void add_products(const double* block, std::size_t samples, double* gram);

}  // namespace millrace::statistics
