#include "src/kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/crops/crops_near_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>

#include "src/kernels/crops/crops.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::crops {
namespace HWY_NAMESPACE {

#if MILLRACE_PORTABLE_TARGET

void find_matches(std::span<const CodeRun> runs, const CropCode* codes, std::vector<CodeMatch>& out) {
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::uint32_t at = runs[r].begin; at < runs[r].end; ++at) {
      if (is_near(runs[r].code, codes[at])) out.push_back({static_cast<std::uint32_t>(r), at});
    }
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Finds codes within kMaxSigns and kMaxChroma. The bytes of the chromas may differ by that much, those of the signs
// by anything, because signs are counted.
void find_matches(std::span<const CodeRun> runs, const CropCode* codes, std::vector<CodeMatch>& out) {
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  constexpr CropCode kAllSigns = (CropCode{1} << kSigns) - 1;
  const auto all_signs = hn::Set(d, kAllSigns), most_signs = hn::Set(d, CropCode{kMaxSigns} + 1);
  const auto may_differ =
      hn::BitCast(bytes, hn::Set(d, kAllSigns | CropCode{kMaxChroma} << kSigns | CropCode{kMaxChroma} << (kSigns + 8)));
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto own = hn::Set(d, runs[r].code);
    const auto own_bytes = hn::BitCast(bytes, own);
    for (std::uint32_t at = runs[r].begin; at < runs[r].end; at += static_cast<std::uint32_t>(lanes)) {
      const auto others = hn::LoadU(d, codes + at);
      const auto others_bytes = hn::BitCast(bytes, others);
      const auto apart = hn::Or(hn::SaturatedSub(own_bytes, others_bytes), hn::SaturatedSub(others_bytes, own_bytes));
      const auto too_far = hn::BitCast(d, hn::SaturatedSub(apart, may_differ));
      const auto signs = hn::PopulationCount(hn::And(hn::Xor(own, others), all_signs));
      const auto found = hn::And(hn::Eq(too_far, hn::Zero(d)), hn::Lt(signs, most_signs));
      if (HWY_LIKELY(hn::AllFalse(d, found))) continue;
      std::uint8_t mask[8] = {};
      hn::StoreMaskBits(d, found, mask);
      for (unsigned bits = mask[0]; bits != 0; bits &= bits - 1) {
        const auto place = at + static_cast<std::uint32_t>(std::countr_zero(bits));
        if (place < runs[r].end) out.push_back({static_cast<std::uint32_t>(r), place});
      }
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace millrace::crops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::crops {

HWY_EXPORT(find_matches);

void find_matches(std::span<const CodeRun> runs, const CropCode* codes, std::vector<CodeMatch>& out) {
  HWY_DYNAMIC_DISPATCH(find_matches)(runs, codes, out);
}

}  // namespace millrace::crops
#endif
