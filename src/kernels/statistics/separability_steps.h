// Input: the features of samples.
// Output: centred and scaled features, and products of samples.
// Never: is used outside of this folder.
#pragma once

#include <cstddef>

namespace millrace::statistics {

// Number of features that are summed together, in eight lanes, before their sum is added to the others. Those of eight
// samples fit L1.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr std::size_t kFeatures = 512;
// Returns the number of rows, which come in fours; those beyond the last sample are 0.
inline constexpr std::size_t rows_of(std::size_t samples) { return (samples + 3) / 4 * 4; }

// Writes `count` <= kFeatures columns, of rows `pitch` floats apart, less their means to `block` [rows_of(samples),
// kFeatures]; the rest of it is 0. `inverse` [kFeatures] is one over the deviation (ddof 1), 0 for a constant.
void center(const float* features, std::size_t pitch, std::size_t samples, std::size_t count, double* block,
            double* inverse);
void scale(double* block, std::size_t samples, const double* inverse);
// Adds the products of samples i <= j to gram[i * rows_of(samples) + j]; what it adds for others is of no use.
void add_products(const double* block, std::size_t samples, double* gram);

}  // namespace millrace::statistics
