// Innermost loop: 4 codes of side a in registers against side b streamed from cache, a column of 32 bits at a time. In
// 99.99 % of pairs of 64 random bits, 32 bits already differ in more than 5 places, so one column decides a pair.
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
// Number of hits that are worth a call.
constexpr std::size_t kBatch = 4096;

HWY_INLINE VI bits_between(VU a, VU b) { return hn::BitCast(I32(), hn::PopulationCount(hn::Xor(a, b))); }

// Finds the pairs that pass all stored columns, after some pair passed the tested ones. Their codes are those from `a`
// on (at most kGroup, and before a_end) and a vector from `b` on. Lanes past b_end belong to other buckets.
HWY_NOINLINE void report(const MatchTask& task, std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end,
                         std::vector<Hit>& hits) {
  const U32 d;
  const I32 di;
  const VI limit = hn::Set(di, task.radius + 1);
  for (std::size_t g = a; g < std::min(a_end, a + kGroup); ++g) {
    VI count = hn::Zero(di);
    for (int c = 0; c < task.stored; ++c) {
      count = hn::Add(count, bits_between(hn::LoadU(d, task.b.columns[c] + b), hn::Set(d, task.a.columns[c][g])));
    }
    const auto passed = hn::Lt(count, limit);
    if (hn::AllFalse(di, passed)) continue;
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(di, passed, bytes);
    std::uint32_t lanes = 0;
    constexpr std::size_t kBytes = (hn::MaxLanes(U32()) + 7) / 8;
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      lanes |= static_cast<std::uint32_t>(bytes[byte]) << (8 * byte);
    }
    for (; lanes != 0; lanes &= lanes - 1) {
      const std::size_t at = b + static_cast<std::size_t>(std::countr_zero(lanes));
      if (at >= b_end) break;
      hits.push_back({static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(at)});
    }
  }
}

// Compares kGroup codes from `a` on with a long run of side b. Groups may reach past a_end into the next bucket, or
// into the padding: report() drops those, which is cheaper than a loop for the rest.
template <int kTested>
HWY_INLINE void scan_long(const MatchTask& task, std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end,
                          std::vector<Hit>& hits) {
  const U32 d;
  const I32 di;
  const VI limit = hn::Set(di, task.radius + 1);
  VU own[kGroup][kTested];
  for (std::size_t g = 0; g < kGroup; ++g) {
    for (int c = 0; c < kTested; ++c) own[g][c] = hn::Set(d, task.a.columns[c][a + g]);
  }
  const std::size_t step = hn::Lanes(d);
  for (; b < b_end; b += step) {
    VI count[kGroup];
    for (int c = 0; c < kTested; ++c) {
      const VU other = hn::LoadU(d, task.b.columns[c] + b);
      for (std::size_t g = 0; g < kGroup; ++g) {
        const VI bits = bits_between(other, own[g][c]);
        count[g] = c == 0 ? bits : hn::Add(count[g], bits);
      }
    }
    VI least = count[0];
    for (std::size_t g = 1; g < kGroup; ++g) least = hn::Min(least, count[g]);
    if (HWY_UNLIKELY(!hn::AllFalse(di, hn::Lt(least, limit)))) report(task, a, a_end, b, b_end, hits);
  }
}

// Compares positions [a, a_end) with kVectors vectors of side b, which stay in registers. With buckets of some 20 codes
// an inner loop over side b would be mispredicted for every group; here only the number of groups varies.
template <int kTested, int kVectors>
HWY_INLINE void scan_short(const MatchTask& task, std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end,
                           std::vector<Hit>& hits) {
  const U32 d;
  const I32 di;
  const VI limit = hn::Set(di, task.radius + 1);
  const std::size_t step = hn::Lanes(d);
  VU other[kVectors][kTested];
  for (int v = 0; v < kVectors; ++v) {
    for (int c = 0; c < kTested; ++c) {
      other[v][c] = hn::LoadU(d, task.b.columns[c] + b + static_cast<std::size_t>(v) * step);
    }
  }
  for (; a < a_end; a += kGroup) {
    VI least[kGroup];
    for (std::size_t g = 0; g < kGroup; ++g) {
      VI count[kVectors];
      for (int c = 0; c < kTested; ++c) {
        const VU own = hn::Set(d, task.a.columns[c][a + g]);
        for (int v = 0; v < kVectors; ++v) {
          const VI bits = bits_between(other[v][c], own);
          count[v] = c == 0 ? bits : hn::Add(count[v], bits);
        }
      }
      least[g] = count[0];
      for (int v = 1; v < kVectors; ++v) least[g] = hn::Min(least[g], count[v]);
    }
    const VI all = hn::Min(hn::Min(least[0], least[1]), hn::Min(least[2], least[3]));
    if (HWY_UNLIKELY(!hn::AllFalse(di, hn::Lt(all, limit)))) {
      for (std::size_t at = b; at < b_end; at += step) report(task, a, a_end, at, b_end, hits);
    }
  }
}

// Returns the number of positions after each code of a group that scan_next() covers: whole vectors, and enough to
// leave the group.
HWY_INLINE std::size_t next_reach() {
  const std::size_t lanes = hn::Lanes(U32());
  return (kGroup - 1 + lanes - 1) / lanes * lanes;
}

// Compares each code of a group with the first vector after it, for pairs inside a bucket. Each code has its own load,
// so that no code is compared with itself.
template <int kTested>
HWY_INLINE void scan_next(const MatchTask& task, std::size_t a, std::size_t a_end, std::size_t b_end,
                          std::vector<Hit>& hits) {
  const U32 d;
  const I32 di;
  const VI limit = hn::Set(di, task.radius + 1);
  const std::size_t reach = next_reach();
  for (std::size_t step = 0; step < reach; step += hn::Lanes(d)) {
    VI least = limit;
    for (std::size_t g = 0; g < kGroup; ++g) {
      VI count = hn::Zero(di);
      for (int c = 0; c < kTested; ++c) {
        const std::uint32_t* const column = task.a.columns[c] + a + g;
        count = hn::Add(count, bits_between(hn::LoadU(d, column + step + 1), hn::Set(d, *column)));
      }
      least = hn::Min(least, count);
    }
    if (HWY_LIKELY(hn::AllFalse(di, hn::Lt(least, limit)))) continue;
    for (std::size_t g = a; g < std::min(a_end, a + kGroup); ++g) {
      report(task, g, g + 1, g + step + 1, std::min(a + 1 + reach, b_end), hits);
    }
  }
}

// Finds pairs inside a bucket that ends at b_end, the first code of them in [a_begin, a_end).
template <int kTested>
HWY_INLINE bool scan_inside(const MatchTask& task, std::size_t a_begin, std::size_t a_end, std::size_t b_end,
                            std::vector<Hit>& hits) {
  const std::size_t reach = next_reach();
  for (std::size_t a = a_begin; a < a_end && a + 1 < b_end; a += kGroup) {
    scan_next<kTested>(task, a, a_end, b_end, hits);
  }
  // Codes after the first vector follow, tile by tile.
  for (std::size_t tile = a_begin + 1 + reach; tile < b_end; tile += kTile) {
    const std::size_t tile_end = std::min(tile + kTile, b_end);
    for (std::size_t a = a_begin; a < a_end; a += kGroup) {
      const std::size_t from = std::max(tile, a + 1 + reach);
      if (from >= tile_end) break;
      scan_long<kTested>(task, a, a_end, from, tile_end, hits);
    }
    if (!task.accept(task.context, hits)) return false;
  }
  return hits.size() < kBatch || task.accept(task.context, hits);
}

// Compares positions [a_begin, a_end) of side a with [b, b_end) of side b.
template <int kTested>
HWY_INLINE bool scan_between(const MatchTask& task, std::size_t a_begin, std::size_t a_end, std::size_t b,
                             std::size_t b_end, std::vector<Hit>& hits) {
  const std::size_t lanes = hn::Lanes(U32());
  const std::size_t vectors = (b_end - b + lanes - 1) / lanes;
  switch (vectors) {
    case 0:
      return true;
    case 1:
      scan_short<kTested, 1>(task, a_begin, a_end, b, b_end, hits);
      break;
    case 2:
      scan_short<kTested, 2>(task, a_begin, a_end, b, b_end, hits);
      break;
    case 3:
      scan_short<kTested, 3>(task, a_begin, a_end, b, b_end, hits);
      break;
    default:
      for (; b < b_end; b += kTile) {
        const std::size_t tile_end = std::min(b + kTile, b_end);
        for (std::size_t a = a_begin; a < a_end; a += kGroup) {
          scan_long<kTested>(task, a, a_end, b, tile_end, hits);
        }
        if (tile_end < b_end && !task.accept(task.context, hits)) return false;
      }
  }
  return hits.size() < kBatch || task.accept(task.context, hits);
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
    if (task.self && !scan_inside<kTested>(task, a, a_end, a_starts[bucket + 1], hits)) return;
    for (const std::uint32_t flip : task.flips) {
      const std::uint32_t partner = bucket ^ flip;
      if (task.self && partner < bucket) continue;
      if (!scan_between<kTested>(task, a, a_end, b_starts[partner], b_starts[partner + 1], hits)) {
        return;
      }
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
