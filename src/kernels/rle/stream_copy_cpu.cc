#include "src/kernels/rle/stream_copy.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/rle/stream_copy_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace millrace::rle::HWY_NAMESPACE {

void StreamCopy(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
#if MILLRACE_PORTABLE_TARGET
  std::memcpy(to, from, bytes);
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  // The first bytes are copied separately, up to an address at which whole vectors can be stored.
  const std::size_t head = std::min(bytes, (lanes - reinterpret_cast<std::uintptr_t>(to) % lanes) % lanes);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + lanes <= bytes; at += lanes) hn::Stream(hn::LoadU(d, from + at), d, to + at);
  std::memcpy(to + at, from + at, bytes - at);
#endif
}

}  // namespace millrace::rle::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::rle {

HWY_EXPORT(StreamCopy);

void stream_copy(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(StreamCopy)(from, bytes, to);
}
void stream_end() { hwy::FlushStream(); }

}  // namespace millrace::rle
#endif
