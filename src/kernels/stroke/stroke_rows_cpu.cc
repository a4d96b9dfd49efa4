#include "src/kernels/stroke/stroke_rows.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/stroke/stroke_rows_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "src/kernels/stroke/stroke_cells.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::stroke::HWY_NAMESPACE {

// Plain loops, which compilers vectorise for each level: an element depends on no other.
void Cross(double x, double above, double slope, int count, CrossedRows& out) {
  alignas(64) std::array<std::int32_t, kRowsAtOnce + 1> at;
  for (int i = 0; i <= count; ++i) {
    const double v = x + (above + static_cast<double>(i) * kOne) * slope;
    // The nearest integer; v is not below 0, and rounded towards it.
    at[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(v + 0.5);
  }
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int32_t left = std::min(at[k], at[k + 1]), right = std::max(at[k], at[k + 1]);
    const std::int32_t first = left >> 16, begin = left & (kOne - 1), reach = right - (first << 16);
    // Left of the next cell's border, and beyond it: height, and twice the mean share that lies to the left.
    const std::int32_t over = std::max(0, reach - kOne);
    const double width = static_cast<double>(std::max(1, right - left));
    const auto beyond = static_cast<std::int32_t>(static_cast<double>(over) * kOne / width + 0.5);
    const std::int32_t height = kOne - beyond, twice = begin + reach - over;
    constexpr double kShare = static_cast<double>(1 << kFiner) / (2 * kOne);
    const auto near = static_cast<std::int32_t>(static_cast<double>(height) * twice * kShare + 0.5);
    const auto far = static_cast<std::int32_t>(static_cast<double>(beyond) * over * kShare + 0.5);
    out.first[k] = first;
    out.area0[k] = (height << kFiner) - near;
    out.area1[k] = near + (beyond << kFiner) - far;
    out.area2[k] = far;
  }
}

}  // namespace millrace::stroke::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::stroke {

HWY_EXPORT(Cross);

void cross(double x, double above, double slope, int count, CrossedRows& out) {
  HWY_DYNAMIC_DISPATCH(Cross)(x, above, slope, count, out);
}

}  // namespace millrace::stroke
#endif
