#include "src/jobs/dedupe/candidates.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "src/kernels/hamming/hamming.h"
#include "src/kernels/orient/orient.h"

namespace millrace::dedupe {
namespace {

std::size_t slot_in(bool middle, HashKind kind) { return middle ? middle_slot_of(kind) : slot_of(kind); }

// The definition of what meet() finds, for one pair as it is.
bool holds(const Rule& rule, const LookCodes& a, const LookCodes& b) {
  const auto in = [&](bool a_middle, bool b_middle) {
    return std::any_of(rule.alternatives.begin(), rule.alternatives.end(), [&](const auto& terms) {
      return std::all_of(terms.begin(), terms.end(), [&](const RuleTerm& term) {
        return std::popcount(a[slot_in(a_middle, term.kind)] ^ b[slot_in(b_middle, term.kind)]) <= term.radius;
      });
    });
  };
  return in(false, false) || (rule.middle && (in(false, true) || in(true, false)));
}

}  // namespace

std::array<int, 4> distances(const LookCodes& a, const LookCodes& b) {
  std::array<int, 4> out{};
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::popcount(a[c] ^ b[c]);
  return out;
}

Meeting::Meeting(const Rule& rule, bool orientations, RunContext& context)
    : rule_(rule), context_(context), views_(orientations ? kOrientations.size() : 1) {}

void Meeting::add(std::uint64_t look, std::span<const LookCodes> views) {
  looks_.push_back(look);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    for (std::size_t c = 0; c < views_[v].size(); ++c) views_[v][c].push_back(views[v][c]);
  }
}

void Meeting::reserve(std::size_t count) {
  looks_.reserve(looks_.size() + count);
  for (Columns& columns : views_) {
    for (auto& column : columns) column.reserve(column.size() + count);
  }
}

LookCodes Meeting::codes(std::uint32_t row, std::size_t view) const {
  LookCodes out;
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = views_[view][c][row];
  return out;
}

const std::vector<std::uint64_t>& Meeting::column(const Sight& sight, HashKind kind) const {
  return (*sight.columns)[slot_in(sight.middle, kind)];
}

std::optional<std::array<int, 4>> Meeting::nearest(std::uint32_t a, std::uint32_t b) const {
  if (looks_[a] < looks_[b]) std::swap(a, b);  // the greater look is turned
  const LookCodes upright = codes(b, 0);
  std::optional<std::array<int, 4>> best;
  const auto sum = [](const std::array<int, 4>& bits) { return std::accumulate(bits.begin(), bits.end(), 0); };
  for (std::size_t view = 0; view < views_.size(); ++view) {
    const LookCodes turned = codes(a, view);
    if (!holds(rule_, turned, upright)) continue;
    const auto bits = distances(turned, upright);
    if (!best || sum(bits) < sum(*best)) best = bits;
  }
  return best;
}

template <typename Fits>
void Meeting::search(const Sight& queries, const Sight& base, std::uint32_t begin, std::uint32_t end,
                     std::uint8_t orientation, const Fits& fits, MetPairs& out) const {
  for (const auto& terms : rule_.alternatives) {
    struct Test {
      const std::uint64_t *query, *base;
      int radius;
    };
    std::vector<Test> tests;
    tests.reserve(terms.size());
    for (const RuleTerm& term : terms)
      tests.push_back({column(queries, term.kind).data() + begin, column(base, term.kind).data(), term.radius});
    const auto also = [&](std::uint32_t i, std::uint32_t j) {
      if (j >= begin + i || !fits(looks_[begin + i], looks_[j])) return false;
      for (std::size_t t = 1; t < tests.size(); ++t) {
        if (std::popcount(tests[t].query[i] ^ tests[t].base[j]) > tests[t].radius) return false;
      }
      return true;
    };
    const hamming::Found found = hamming::search({tests[0].query, end - begin}, {tests[0].base, end}, {tests[0].radius},
                                                 context_.executor, context_.budget, also);
    out.memory.push_back(context_.budget.reserve({found.pairs.list.size() * sizeof(RowPair)}, "candidates"));
    out.pairs.reserve(out.pairs.size() + found.pairs.list.size());
    for (const hamming::Pair& pair : found.pairs.list.span())
      out.pairs.push_back({pair.j, begin + pair.i, static_cast<std::uint8_t>(1 << orientation)});
  }
}

MetPairs Meeting::meet(std::uint32_t begin, std::uint32_t end) const {
  Trace::Stage& stage = context_.trace.stage("find candidates", 1, "a smaller radius in --match");
  const Span span(stage);
  MetPairs met;
  for (std::size_t o = 0; o < views_.size(); ++o) {
    const auto sights = [&](const Columns& queries, const Columns& base, const auto& fits) {
      const auto orientation = static_cast<std::uint8_t>(o);
      search({&queries, false}, {&base, false}, begin, end, orientation, fits, met);
      if (!rule_.middle) return;
      search({&queries, false}, {&base, true}, begin, end, orientation, fits, met);
      search({&queries, true}, {&base, false}, begin, end, orientation, fits, met);
    };
    if (o == 0) {
      sights(views_[0], views_[0], [](std::uint64_t, std::uint64_t) { return true; });
      continue;
    }
    sights(views_[o], views_[0], [](std::uint64_t query, std::uint64_t base) { return query > base; });
    sights(views_[0], views_[o], [](std::uint64_t query, std::uint64_t base) { return query < base; });
  }
  std::vector<RowPair>& out = met.pairs;
  std::sort(out.begin(), out.end(),
            [](const RowPair& x, const RowPair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  std::size_t kept = 0;
  for (const RowPair& pair : out) {
    if (kept > 0 && out[kept - 1].a == pair.a && out[kept - 1].b == pair.b) {
      out[kept - 1].orientations = static_cast<std::uint8_t>(out[kept - 1].orientations | pair.orientations);
    } else {
      out[kept++] = pair;
    }
  }
  out.resize(kept);
  return met;
}

void Meeting::each_part(std::uint32_t first,
                        const std::function<void(std::uint32_t, std::uint32_t, const MetPairs&)>& visit) const {
  // More at a time take more memory for their pairs, fewer build the searches' tables more often. A million looks, in
  // parts of 131,072 and 65,536, take 18 s.
  constexpr std::uint32_t kMostAtOnce = 1 << 17, kFewestAtOnce = 256;
  constexpr std::size_t kManyPairs = 1 << 21;
  std::uint32_t at_once = kMostAtOnce;
  for (std::uint32_t begin = first; begin < rows();) {
    const std::uint32_t end = begin + std::min(at_once, rows() - begin);
    std::size_t pairs = 0;
    try {
      const MetPairs met = meet(begin, end);
      visit(begin, end, met);
      pairs = met.pairs.size();
      begin = end;
    } catch (const OutOfMemory&) {
      if (at_once <= kFewestAtOnce) throw;
      pairs = kManyPairs;
    }
    if (pairs >= kManyPairs && at_once > kFewestAtOnce) at_once /= 2;
  }
}

}  // namespace millrace::dedupe
