// Enters: values of samples, and signs.
// Leaves: sums of signed values.
// Never: used from outside this folder.
#pragma once

#include <cstddef>

namespace millrace::statistics {

// Components that are summed together; the signs of kSigned features for them fit L1.
inline constexpr std::size_t kSummed = 32, kSigned = 64;

// Adds values [samples, pitch], `count` <= kSigned of each, times signs [count, kSummed] to sums of kSummed for each
// sample, `sums_pitch` apart.
void add_signed(const double* values, std::size_t pitch, std::size_t samples, std::size_t count, const double* signs,
                double* sums, std::size_t sums_pitch);

}  // namespace millrace::statistics
