// Pair-wise multiply-add for vectorised files; included once per target, inside foreach_target's passes.
#if defined(MILLRACE_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_PAIRS_INL_H_
#undef MILLRACE_PAIRS_INL_H_
#else
#define MILLRACE_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace millrace::HWY_NAMESPACE {

// Returns acc[i] + a[2i] * b[2i] + a[2i + 1] * b[2i + 1], modulo 2^32. On x86 this is one instruction, and Highway's
// ReorderWidenMulAccumulate happens to be it. On other machines that operation pairs other lanes, so the pairs are
// separated by shifts.
template <class D32, class V16, class V32>
HWY_INLINE V32 pair_multiply_add(D32 d32, V16 a, V16 b, V32 acc) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  V32 unused = hwy::HWY_NAMESPACE::Zero(d32);
  return hwy::HWY_NAMESPACE::ReorderWidenMulAccumulate(d32, a, b, acc, unused);
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const auto a32 = hn::BitCast(d32, a);
  const auto b32 = hn::BitCast(d32, b);
  const auto even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
  const auto odd = hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32));
  return hn::Add(acc, hn::Add(even, odd));
#endif
}

}  // namespace millrace::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
