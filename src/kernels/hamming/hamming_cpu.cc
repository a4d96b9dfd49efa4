// The innermost loop: 4 codes of side a in registers against side b streamed from cache, a column
// of 32 bits at a time. Of 64 random bits 32 already differ in more than 5 places in 99.99 % of
// pairs, so one column settles a pair.
#include "src/kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/hamming/hamming_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "src/kernels/hamming/hamming_match.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::hamming {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using U32 = hn::ScalableTag<std::uint32_t>;
using I32 = hn::ScalableTag<std::int32_t>;
using VU = hn::Vec<U32>;
using VI = hn::Vec<I32>;

// Codes of side a that one load of side b is compared with.
constexpr std::size_t kGroup = 4;
// Positions of side b that stay in the first-level cache while a block of side a passes: 8 KiB a
// column.
constexpr std::size_t kTile = 2048;

HWY_INLINE VI bits_between(VU a, VU b) {
  return hn::BitCast(I32(), hn::PopulationCount(hn::Xor(a, b)));
}

// Some pair among `group` codes from `a` on and a vector from `b` on passed the tested columns:
// which ones also pass all.
HWY_NOINLINE void report(const MatchTask& task, std::size_t a, std::size_t group, std::size_t b,
                         std::size_t b_end, std::vector<Hit>& hits) {
  const U32 d;
  const I32 di;
  const VI limit = hn::Set(di, task.radius + 1);
  for (std::size_t g = a; g < a + group; ++g) {
    VI count = hn::Zero(di);
    for (int c = 0; c < task.stored; ++c) {
      count = hn::Add(count, bits_between(hn::LoadU(d, task.b.columns[c] + b),
                                          hn::Set(d, task.a.columns[c][g])));
    }
    const auto passed = hn::Lt(count, limit);
    if (hn::AllFalse(di, passed)) continue;
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(di, passed, bytes);
    std::uint64_t lanes = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) lanes |= std::uint64_t{bytes[byte]} << (8 * byte);
    for (; lanes != 0; lanes &= lanes - 1) {
      const std::size_t at = b + static_cast<std::size_t>(std::countr_zero(lanes));
      if (at >= b_end) break;
      if (task.self && at <= g) continue;
      hits.push_back({static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(at)});
    }
  }
}

template <int kTested, std::size_t kCodes>
HWY_INLINE void scan(const MatchTask& task, std::size_t a, std::size_t b, std::size_t b_end,
                     std::vector<Hit>& hits) {
  const U32 d;
  const I32 di;
  const VI limit = hn::Set(di, task.radius + 1);
  VU own[kCodes][kTested];
  for (std::size_t g = 0; g < kCodes; ++g) {
    for (int c = 0; c < kTested; ++c) own[g][c] = hn::Set(d, task.a.columns[c][a + g]);
  }
  const std::size_t step = hn::Lanes(d);
  for (; b < b_end; b += step) {
    VI count[kCodes];
    for (int c = 0; c < kTested; ++c) {
      const VU other = hn::LoadU(d, task.b.columns[c] + b);
      for (std::size_t g = 0; g < kCodes; ++g) {
        const VI bits = bits_between(other, own[g][c]);
        count[g] = c == 0 ? bits : hn::Add(count[g], bits);
      }
    }
    VI least = count[0];
    for (std::size_t g = 1; g < kCodes; ++g) least = hn::Min(least, count[g]);
    if (HWY_UNLIKELY(!hn::AllFalse(di, hn::Lt(least, limit))))
      report(task, a, kCodes, b, b_end, hits);
  }
}

// Positions [a, a_end) against [b, b_end), those after each code alone when the two ranges are one
// bucket.
template <int kTested>
HWY_INLINE bool scan_block(const MatchTask& task, std::size_t a_begin, std::size_t a_end,
                           std::size_t b_begin, std::size_t b_end, bool triangle,
                           std::vector<Hit>& hits) {
  for (std::size_t tile = b_begin; tile < b_end; tile += kTile) {
    const std::size_t tile_end = std::min(tile + kTile, b_end);
    std::size_t a = a_begin;
    for (; a + kGroup <= a_end; a += kGroup) {
      const std::size_t from = triangle ? std::max(tile, a + 1) : tile;
      if (from >= tile_end) break;
      scan<kTested, kGroup>(task, a, from, tile_end, hits);
    }
    for (; a < a_end; ++a) {
      const std::size_t from = triangle ? std::max(tile, a + 1) : tile;
      if (from >= tile_end) break;
      scan<kTested, 1>(task, a, from, tile_end, hits);
    }
    if (b_end - b_begin > kTile || hits.size() > 4096) {
      if (!task.accept(task.context, hits)) return false;
    }
  }
  return true;
}

template <int kTested>
void match_tested(const MatchTask& task) {
  std::vector<Hit> hits;
  std::uint32_t bucket = task.first_bucket;
  const std::uint32_t* const a_starts = task.a.starts;
  const std::uint32_t* const b_starts = task.b.starts;
  for (std::size_t a = task.begin; a < task.end;) {
    while (a_starts[bucket + 1] <= a) ++bucket;
    const std::size_t a_end = std::min<std::size_t>(task.end, a_starts[bucket + 1]);
    if (task.self) {
      if (!scan_block<kTested>(task, a, a_end, a + 1, a_starts[bucket + 1], true, hits)) return;
    }
    for (const std::uint32_t flip : task.flips) {
      const std::uint32_t partner = bucket ^ flip;
      if (task.self && partner < bucket) continue;
      if (!scan_block<kTested>(task, a, a_end, b_starts[partner], b_starts[partner + 1], false,
                               hits))
        return;
    }
    a = a_end;
  }
  task.accept(task.context, hits);
}

void match_at_level(const MatchTask& task) {
  switch (task.tested) {
    case 1:
      return match_tested<1>(task);
    case 2:
      return match_tested<2>(task);
    case 3:
      return match_tested<3>(task);
    case 4:
      return match_tested<4>(task);
    default:
      return match_tested<8>(task);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace millrace::hamming
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::hamming {

HWY_EXPORT(match_at_level);

void match(const MatchTask& task) { HWY_DYNAMIC_DISPATCH(match_at_level)(task); }

}  // namespace millrace::hamming
#endif
