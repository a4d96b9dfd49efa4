#include <algorithm>

#include "src/kernels/statistics/separability_steps.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {
namespace {

// The sums of a part of the features: rows_of(samples) squared.
struct Part {
  std::vector<double> centred, standardized;
};

std::vector<double> folded(const std::vector<Part>& parts, std::vector<double> Part::*which, std::size_t samples) {
  std::vector<double> out(samples * samples);
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t j = i; j < samples; ++j) {
      double sum = 0;
      for (const Part& part : parts) sum += (part.*which)[i * rows_of(samples) + j];
      out[i * samples + j] = out[j * samples + i] = sum;
    }
  }
  return out;
}

}  // namespace

void gram_of(std::span<const float> features, std::size_t samples, std::vector<double>& centred,
             std::vector<double>* standardized, const Executor& executor) {
  const std::size_t count = features.size() / std::max<std::size_t>(samples, 1), rows = rows_of(samples);
  constexpr std::size_t kPart = kFeatures * kBlocksOfPart;
  std::vector<Part> parts((count + kPart - 1) / kPart);
  for_all(executor, parts.size(), 1, [&](std::size_t begin, std::size_t end) {
    Buffer<double> block(rows * kFeatures), inverse(kFeatures);
    for (std::size_t p = begin; p < end; ++p) {
      parts[p].centred.assign(rows * rows, 0);
      if (standardized != nullptr) parts[p].standardized.assign(rows * rows, 0);
      for (std::size_t first = p * kPart; first < std::min(count, (p + 1) * kPart); first += kFeatures) {
        center(features.data() + first, count, samples, std::min(kFeatures, count - first), block.data(),
               inverse.data());
        add_products(block.data(), samples, parts[p].centred.data());
        if (standardized == nullptr) continue;
        scale(block.data(), samples, inverse.data());
        add_products(block.data(), samples, parts[p].standardized.data());
      }
    }
  });
  centred = folded(parts, &Part::centred, samples);
  if (standardized != nullptr) *standardized = folded(parts, &Part::standardized, samples);
}

}  // namespace millrace::statistics
