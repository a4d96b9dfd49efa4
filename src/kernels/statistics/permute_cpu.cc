#include <limits>

#include "src/kernels/statistics/permute_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/statistics/permute_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::statistics::HWY_NAMESPACE {

// Eight lanes, so that sums stay in registers where vectors are short.
using V = floats::HWY_NAMESPACE::Numbers<double, 8>;
constexpr std::size_t kLanes = 8;

// Largest share of all squares within both sides that counts as rounding: the sides are then constant.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr double kConstant = 1e-12;

template <BlockKind kKind>
HWY_INLINE void PermuteLanes(const PermutationBlock& block, std::size_t lane, const std::uint16_t* shuffles,
                             std::size_t count, double* counts, double* most) {
  constexpr std::size_t kLayers = layers_of(kKind), kStride = kLayers * kBlock;
  const double* const values = block.values + lane;
  const V zero = V::all(0), one = V::all(1), infinite = V::all(std::numeric_limits<double>::infinity());
  const V all = V::at(block.sums + lane), all_squares = V::at(block.sums + kBlock + lane),
          all_count = V::at(block.sums + 2 * kBlock + lane), threshold = V::at(block.thresholds + lane),
          constant = V::all(kConstant) * all_squares;
  const auto n1 = static_cast<double>(block.chosen), n2 = static_cast<double>(block.others);
  const V of1 = V::all(1 / n1), of2 = V::all(1 / n2), error1 = V::all(1 / (n1 * (n1 - 1))),
          error2 = V::all(1 / (n2 * (n2 - 1)));
  V reached = V::at(counts + lane);
  for (std::size_t s = 0; s < count; ++s, shuffles += block.chosen) {
    const double* const first = values + shuffles[0] * kStride;
    V sum = V::at(first), squares = zero, present = zero;
    if constexpr (kLayers > 1) squares = V::at(first + kBlock);
    if constexpr (kLayers > 2) present = V::at(first + 2 * kBlock);
    for (std::size_t i = 1; i < block.chosen; ++i) {
      const double* const video = values + shuffles[i] * kStride;
      sum += V::at(video);
      if constexpr (kLayers > 1) squares += V::at(video + kBlock);
      if constexpr (kLayers > 2) present += V::at(video + 2 * kBlock);
    }
    const V other = all - sum;
    V t2 = zero;
    if constexpr (kKind == BlockKind::balanced) {
      const V apart = (sum - other) * of1, within = all_squares - (sum * sum + other * other) * of1;
      t2 = if_at_most(within, constant, infinite, apart * apart / (within * error1));
    } else if constexpr (kKind == BlockKind::full) {
      const V apart = sum * of1 - other * of2, within1 = greater(squares - sum * sum * of1, zero),
              within2 = greater(all_squares - squares - other * other * of2, zero);
      t2 = if_at_most(within1 + within2, constant, infinite, apart * apart / (within1 * error1 + within2 * error2));
    } else {
      // A side without videos has the mean 0, like its sum.
      const V rest = all_count - present, m1 = greater(present, one), m2 = greater(rest, one);
      const V mean1 = sum / m1, mean2 = other / m2, apart = mean1 - mean2;
      const V within1 = greater(squares - sum * mean1, zero),
              within2 = greater(all_squares - squares - other * mean2, zero);
      const V error = within1 / (m1 * greater(m1 - one, one)) + within2 / (m2 * greater(m2 - one, one));
      t2 = if_at_most(within1 + within2, constant, infinite, apart * apart / error);
      t2 = if_at_most(lesser(present, rest), one, zero, t2);
    }
    reached += if_at_most(threshold, t2, one, zero);
    double* const to = most + s * kBlock + lane;
    greater(V::at(to), t2).put(to);
  }
  reached.put(counts + lane);
}

template <BlockKind kKind>
void PermuteKind(const PermutationBlock& block, const std::uint16_t* shuffles, std::size_t count, double* counts,
                 double* most) {
  for (std::size_t lane = 0; lane < kBlock; lane += kLanes)
    PermuteLanes<kKind>(block, lane, shuffles, count, counts, most);
}

void PermuteBlock(const PermutationBlock& block, const std::uint16_t* shuffles, std::size_t count, double* counts,
                  double* most) {
  switch (block.kind) {
    case BlockKind::balanced:
      return PermuteKind<BlockKind::balanced>(block, shuffles, count, counts, most);
    case BlockKind::full:
      return PermuteKind<BlockKind::full>(block, shuffles, count, counts, most);
    case BlockKind::holes:
      return PermuteKind<BlockKind::holes>(block, shuffles, count, counts, most);
  }
}

}  // namespace millrace::statistics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::statistics {

HWY_EXPORT(PermuteBlock);

void permute_block(const PermutationBlock& block, const std::uint16_t* shuffles, std::size_t count, double* counts,
                   double* most) {
  HWY_DYNAMIC_DISPATCH(PermuteBlock)(block, shuffles, count, counts, most);
}

}  // namespace millrace::statistics
#endif
