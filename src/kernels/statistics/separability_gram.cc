#include <algorithm>

#include "src/base/error.h"
#include "src/kernels/statistics/separability.h"
#include "src/kernels/statistics/separability_steps.h"
#include "src/memory/buffer.h"

namespace millrace::statistics {
namespace {

// Sums over the features of a slice: [rows_of(samples), rows_of(samples)].
struct Part {
  std::vector<double> centred, standardized;
};

}  // namespace

FeatureProducts::FeatureProducts(std::size_t samples)
    : samples_(samples), centred_(samples * samples), standardized_(samples * samples) {}

std::uint64_t FeatureProducts::memory(std::size_t samples, int threads) {
  const std::uint64_t rows = rows_of(samples), each = 2 * sizeof(double) * rows * rows;
  return each + static_cast<std::uint64_t>(threads) * (each + sizeof(double) * (rows + 1) * kFeatures);
}

void FeatureProducts::add(std::span<const float> features, const Executor& executor) {
  if (samples_ == 0 ? !features.empty() : features.size() % samples_ != 0)
    throw Failure(ErrorCode::usage, "every sample must have the same number of features", "features");
  const std::size_t count = features.size() / std::max<std::size_t>(samples_, 1), rows = rows_of(samples_);
  if (count == 0) return;
  if (last_) throw Failure(ErrorCode::usage, "cannot be added after the last ones", "features");
  last_ = count % kSlice != 0;
  const std::size_t slices = (count + kSlice - 1) / kSlice;
  // Slices are processed as many at a time as there are threads, because their sums take memory.
  std::vector<Part> parts(static_cast<std::size_t>(executor.threads()));
  for (std::size_t from = 0; from < slices; from += parts.size()) {
    const std::size_t at_once = std::min(parts.size(), slices - from);
    for_all(executor, at_once, 1, [&](std::size_t begin, std::size_t end) {
      Buffer<double> block(rows * kFeatures), inverse(kFeatures);
      for (std::size_t p = begin; p < end; ++p) {
        parts[p].centred.assign(rows * rows, 0);
        parts[p].standardized.assign(rows * rows, 0);
        const std::size_t first_of_slice = (from + p) * kSlice;
        for (std::size_t first = first_of_slice; first < std::min(count, first_of_slice + kSlice); first += kFeatures) {
          center(features.data() + first, count, samples_, std::min(kFeatures, count - first), block.data(),
                 inverse.data());
          add_products(block.data(), samples_, parts[p].centred.data());
          scale(block.data(), samples_, inverse.data());
          add_products(block.data(), samples_, parts[p].standardized.data());
        }
      }
    });
    for (std::size_t p = 0; p < at_once; ++p) {
      for (std::size_t i = 0; i < samples_; ++i) {
        for (std::size_t j = i; j < samples_; ++j) {
          centred_[i * samples_ + j] += parts[p].centred[i * rows + j];
          standardized_[i * samples_ + j] += parts[p].standardized[i * rows + j];
        }
      }
    }
  }
}

std::vector<double> FeatureProducts::whole(const std::vector<double>& sums) const {
  std::vector<double> out = sums;
  for (std::size_t i = 0; i < samples_; ++i)
    for (std::size_t j = 0; j < i; ++j) out[i * samples_ + j] = sums[j * samples_ + i];
  return out;
}

}  // namespace millrace::statistics
