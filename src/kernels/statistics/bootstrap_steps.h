// Input: eight columns of a group, and random words.
// Output: means of resamples.
// Never: used from outside this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::statistics {

// Columns that are resampled together.
inline constexpr std::size_t kTogether = 8;

// Of values [count, kTogether], resamples by words [replicates, stride], of which the first `count` are used: the mean
// of lane k goes to out[k * pitch + replicate].
void resample_means(const double* values, std::size_t count, const std::uint32_t* words, std::size_t stride,
                    std::size_t replicates, double* out, std::size_t pitch);

}  // namespace millrace::statistics
