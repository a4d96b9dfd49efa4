#include "src/jobs/dedupe/candidates.h"

#include <algorithm>
#include <bit>

#include "src/kernels/hamming/hamming.h"
#include "src/kernels/orient/orient.h"

namespace millrace::dedupe {
std::array<int, 4> distances(const CatalogPicture& a, const CatalogPicture& b) {
  std::array<int, 4> out{};
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::popcount(a.codes[c] ^ b.codes[c]);
  return out;
}

bool holds(const Rule& rule, const CatalogPicture& a, const CatalogPicture& b) {
  return std::any_of(rule.alternatives.begin(), rule.alternatives.end(), [&](const auto& terms) {
    return std::all_of(terms.begin(), terms.end(), [&](const RuleTerm& term) {
      const std::size_t slot = slot_of(term.kind);
      return std::popcount(a.codes[slot] ^ b.codes[slot]) <= term.radius;
    });
  });
}

Meeting::Meeting(const Rule& rule, bool orientations, RunContext& context)
    : rule_(rule), context_(context), views_(orientations ? kOrientations.size() : 1) {}

void Meeting::add(std::uint64_t look, std::span<const LookCodes> views) {
  looks_.push_back(look);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    for (std::size_t c = 0; c < views_[v].size(); ++c) views_[v][c].push_back(views[v][c]);
  }
}

LookCodes Meeting::codes(std::uint32_t row, std::size_t view) const {
  LookCodes out;
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = views_[view][c][row];
  return out;
}

const std::vector<std::uint64_t>& Meeting::column(const Sight& sight, HashKind kind) const {
  return (*sight.columns)[sight.middle ? middle_slot_of(kind) : slot_of(kind)];
}

template <typename Fits>
void Meeting::search(const Sight& queries, const Sight& base, std::uint32_t begin, std::uint32_t end,
                     std::uint8_t orientation, const Fits& fits, std::vector<RowPair>& out) const {
  for (const auto& terms : rule_.alternatives) {
    struct Test {
      const std::uint64_t *query, *base;
      int radius;
    };
    std::vector<Test> tests;
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
    for (const hamming::Pair& pair : found.pairs.list.span())
      out.push_back({pair.j, begin + pair.i, static_cast<std::uint8_t>(1 << orientation)});
  }
}

std::vector<RowPair> Meeting::meet(std::uint32_t begin, std::uint32_t end) const {
  Trace::Stage& stage = context_.trace.stage("find candidates", 1, "a smaller radius in --match");
  const Span span(stage);
  std::vector<RowPair> out;
  for (std::size_t o = 0; o < views_.size(); ++o) {
    const auto sights = [&](const Columns& queries, const Columns& base, const auto& fits) {
      const auto orientation = static_cast<std::uint8_t>(o);
      search({&queries, false}, {&base, false}, begin, end, orientation, fits, out);
      if (!rule_.middle) return;
      search({&queries, false}, {&base, true}, begin, end, orientation, fits, out);
      search({&queries, true}, {&base, false}, begin, end, orientation, fits, out);
    };
    if (o == 0) {
      sights(views_[0], views_[0], [](std::uint64_t, std::uint64_t) { return true; });
      continue;
    }
    sights(views_[o], views_[0], [](std::uint64_t query, std::uint64_t base) { return query > base; });
    sights(views_[0], views_[o], [](std::uint64_t query, std::uint64_t base) { return query < base; });
  }
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
  return out;
}

}  // namespace millrace::dedupe
