#include "src/kernels/statistics/projection.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/error.h"
#include "src/kernels/statistics/projection_steps.h"
#include "src/kernels/statistics/random.h"
#include "src/kernels/statistics/separability_steps.h"
#include "src/kernels/statistics/statistics.h"
#include "src/memory/buffer.h"

namespace millrace::statistics {
namespace {

constexpr std::size_t kWords = kProjected / 32;
// Components have a word of signs each 32.
static_assert(kSummed == 32);

// Of every byte of a word: -1 for a bit, 1 for none, the lowest first.
std::array<std::array<double, 8>, 256> signs_of_bytes() {
  std::array<std::array<double, 8>, 256> out;
  for (std::size_t byte = 0; byte < out.size(); ++byte)
    for (std::size_t bit = 0; bit < 8; ++bit) out[byte][bit] = (byte >> bit & 1) != 0 ? -1 : 1;
  return out;
}

}  // namespace

void add_projected(std::span<const float> features, std::size_t samples, std::uint32_t first_feature,
                   std::uint64_t seed, std::span<double> sums, const Executor& executor) {
  if (sums.size() != samples * kProjected || (samples == 0 ? !features.empty() : features.size() % samples != 0))
    throw Failure(ErrorCode::usage, "do not fit the number of samples", "features that are projected");
  if (samples == 0) return;
  const auto of_byte = signs_of_bytes();
  const std::size_t all = features.size() / samples;
  Buffer<std::uint32_t> words(kFeatures * kWords);
  Buffer<double> block(rows_of(samples) * kFeatures), inverse(kFeatures);
  for (std::size_t first = 0; first < all; first += kFeatures) {
    const std::size_t some = std::min(kFeatures, all - first);
    center(features.data() + first, all, samples, some, block.data(), inverse.data());
    scale(block.data(), samples, inverse.data());
    for_all(executor, some, 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t f = begin; f < end; ++f) {
        Draws draws(seed, Purpose::projection, 0, first_feature + static_cast<std::uint32_t>(first + f));
        for (std::size_t w = 0; w < kWords; ++w) words[f * kWords + w] = draws.next();
      }
    });
    for_all(executor, kWords, 1, [&](std::size_t begin, std::size_t end) {
      Buffer<double> signs(kSigned * kSummed);
      for (std::size_t w = begin; w < end; ++w) {
        for (std::size_t at = 0; at < some; at += kSigned) {
          const std::size_t count = std::min(kSigned, some - at);
          for (std::size_t f = 0; f < count; ++f)
            for (std::size_t byte = 0; byte < 4; ++byte)
              std::copy_n(of_byte[words[(at + f) * kWords + w] >> (8 * byte) & 255].data(), 8,
                          signs.data() + f * kSummed + 8 * byte);
          add_signed(block.data() + at, kFeatures, samples, count, signs.data(), sums.data() + w * kSummed, kProjected);
        }
      }
    });
  }
}

void finish_projected(std::span<const double> sums, std::span<float> features) {
  const double root = std::sqrt(static_cast<double>(kProjected));
  for (std::size_t i = 0; i < sums.size(); ++i) features[i] = static_cast<float>(sums[i] / root);
}

}  // namespace millrace::statistics
