// Input: eight columns of a group, and random words.
// Output: means of resamples.
// Never: is used outside of this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::statistics {

// Number of columns that are resampled together.
inline constexpr std::size_t kTogether = 8;

// Resamples values [count, kTogether] by words [replicates, stride], of which the first `count` of each row are used.
// The mean of lane k goes to out[k * pitch + replicate].
void resample_means(const double* values, std::size_t count, const std::uint32_t* words, std::size_t stride,
                    std::size_t replicates, double* out, std::size_t pitch);

}  // namespace millrace::statistics
