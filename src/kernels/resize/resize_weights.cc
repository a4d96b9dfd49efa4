#include <algorithm>

#include "src/kernels/resize/resize_passes.h"
#include "src/kernels/resize/resize_recent.h"

namespace millrace {
namespace {

bool all_within(const ResizeAxis& axis, std::int32_t lowest, std::int32_t highest) {
  return std::all_of(axis.weights.begin(), axis.weights.end(),
                     [&](std::int32_t w) { return w >= lowest && w <= highest; });
}

bool fits_16_bits(const ResizeAxis& axis) { return all_within(axis, INT16_MIN, INT16_MAX); }

std::int32_t low_part(std::int32_t w, bool split) { return split ? w & ((1 << kResizeLowBits) - 1) : w; }

std::int32_t packed(std::int32_t even, std::int32_t odd) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(even & 0xFFFF) | static_cast<std::uint32_t>(odd & 0xFFFF)
                                                                                   << 16);
}

}  // namespace

DotWeights::DotWeights(const ResizeAxis& axis)
    : in(axis.in), out(axis.out), split(!all_within(axis, 2 * INT16_MIN, 2 * INT16_MAX)) {
  stride = (axis.taps + 2 * kStep - 2) / kStep * kStep;
  const std::size_t total = static_cast<std::size_t>(stride) * static_cast<std::size_t>(axis.out);
  low.resize(total);
  std::fill(low.begin(), low.end(), std::int16_t{0});
  high.resize(total);
  std::fill(high.begin(), high.end(), std::int16_t{0});
  for (int x = 0; x < axis.out; ++x) {
    const int lead = axis.first[static_cast<std::size_t>(x)] % kStep;
    const int count = lead + axis.count[static_cast<std::size_t>(x)];
    first.push_back(axis.first[static_cast<std::size_t>(x)] - lead);
    length.push_back((count + kStep - 1) / kStep * kStep);
    const std::int32_t* weights = axis.weights_of(x);
    int begin = length.back(), end = 0;
    for (int i = lead; i < count; ++i) {
      const std::size_t at =
          static_cast<std::size_t>(x) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(i);
      const std::int32_t weight = weights[i - lead];
      if (split) {
        low[at] = static_cast<std::int16_t>(low_part(weight, true));
        high[at] = static_cast<std::int16_t>(weight >> kResizeLowBits);
        continue;
      }
      low[at] = static_cast<std::int16_t>(std::clamp<std::int32_t>(weight, INT16_MIN, INT16_MAX));
      high[at] = static_cast<std::int16_t>(weight - low[at]);
      if (high[at] != 0) {
        begin = std::min(begin, i / kStep * kStep);
        end = i / kStep * kStep + kStep;
      }
    }
    high_begin.push_back(split ? 0 : std::min(begin, end));
    high_end.push_back(split ? length.back() : end);
  }
}

PairWeights::PairWeights(const ResizeAxis& axis) : in(axis.in), out(axis.out), split(!fits_16_bits(axis)) {
  stride = axis.taps / 2 + 2;
  const std::size_t total = static_cast<std::size_t>(stride) * static_cast<std::size_t>(axis.out);
  low.assign(total, 0);
  if (split) high.assign(total, 0);
  for (int x = 0; x < axis.out; ++x) {
    const int first = axis.first[static_cast<std::size_t>(x)];
    const int end = first + axis.count[static_cast<std::size_t>(x)];
    first_pair.push_back(first / 2);
    pairs.push_back((end + 1) / 2 - first / 2);
    const auto weight = [&](int input) {
      return input < first || input >= end ? 0 : axis.weights_of(x)[input - first];
    };
    for (int p = 0; p < pairs.back(); ++p) {
      const std::int32_t even = weight(2 * (first / 2 + p));
      const std::int32_t odd = weight(2 * (first / 2 + p) + 1);
      const std::size_t at =
          static_cast<std::size_t>(x) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(p);
      low[at] = packed(low_part(even, split), low_part(odd, split));
      if (split) high[at] = packed(even >> kResizeLowBits, odd >> kResizeLowBits);
    }
  }
}

std::shared_ptr<const DotWeights> dot_weights(const ResizeAxis& axis) {
  static RecentCache<DotWeights> recent;
  return recent.get(axis.in, axis.out, [&] { return std::make_shared<const DotWeights>(axis); });
}

std::shared_ptr<const PairWeights> pair_weights(const ResizeAxis& axis) {
  static RecentCache<PairWeights> recent;
  return recent.get(axis.in, axis.out, [&] { return std::make_shared<const PairWeights>(axis); });
}

}  // namespace millrace
