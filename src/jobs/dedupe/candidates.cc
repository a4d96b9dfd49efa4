#include "src/jobs/dedupe/candidates.h"

#include <algorithm>
#include <bit>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/codes.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::dedupe {
namespace {

std::size_t slot_of(HashKind kind) {
  return static_cast<std::size_t>(std::find(kCatalogCodes.begin(), kCatalogCodes.end(), kind) - kCatalogCodes.begin());
}

bool holds_all(const std::vector<RuleTerm>& terms, const Codes& a, const Codes& b) {
  return std::all_of(terms.begin(), terms.end(), [&](const RuleTerm& term) {
    const std::size_t slot = slot_of(term.kind);
    return std::popcount(a[slot] ^ b[slot]) <= term.radius;
  });
}

// What one unit shows to the rule: its whole, and its middle.
struct Views {
  Codes whole{}, middle{};
};

Views views_of(const CatalogPicture& p) {
  Views views;
  std::copy_n(p.codes.begin(), views.whole.size(), views.whole.begin());
  views.middle[0] = p.codes[4];
  views.middle[3] = p.codes[5];
  return views;
}

// Pairs (query, base) of views that meet under the rule, in one orientation. A join of both lists of codes: whole meets
// whole, whole meets middle; middles do not meet, since what they have in common the wholes have too.
class Meeting {
 public:
  Meeting(const Rule& rule, RunContext& context) : rule_(rule), context_(context) {}

  template <typename Add>
  void among(const std::vector<Views>& units, Add&& add) const {
    const std::size_t n = units.size();
    for (const auto& terms : rule_.alternatives) {
      const std::vector<std::uint64_t> codes = column(units, slot_of(terms[0].kind));
      const hamming::Joined joined = hamming::self_join(codes, {terms[0].radius}, context_.executor, context_.budget);
      hamming::expand(joined, context_.executor, context_.budget, [&](std::span<const hamming::Pair> pairs) {
        for (const hamming::Pair& pair : pairs) meet(terms, units, units, pair.i, pair.j, n, add);
      });
    }
  }

  template <typename Add>
  void between(const std::vector<Views>& queries, const std::vector<Views>& base, Add&& add) const {
    for (const auto& terms : rule_.alternatives) {
      const std::size_t slot = slot_of(terms[0].kind);
      const hamming::Found found = hamming::search(column(queries, slot), column(base, slot), {terms[0].radius},
                                                   context_.executor, context_.budget);
      for (const hamming::Pair& pair : found.pairs.list.span())
        meet(terms, queries, base, pair.i, pair.j, base.size(), add);
    }
  }

 private:
  std::vector<std::uint64_t> column(const std::vector<Views>& units, std::size_t slot) const {
    std::vector<std::uint64_t> codes;
    codes.reserve(units.size() * (rule_.middle ? 2 : 1));
    for (const Views& v : units) codes.push_back(v.whole[slot]);
    if (rule_.middle) {
      for (const Views& v : units) codes.push_back(v.middle[slot]);
    }
    return codes;
  }

  // Rows i and j of the columns of `a` and `b`, both of n units.
  template <typename Add>
  void meet(const std::vector<RuleTerm>& terms, const std::vector<Views>& a, const std::vector<Views>& b, std::size_t i,
            std::size_t j, std::size_t n, Add& add) const {
    const bool middle_i = i >= n, middle_j = j >= n;
    if (middle_i && middle_j) return;
    const auto unit_i = static_cast<std::uint32_t>(middle_i ? i - n : i);
    const auto unit_j = static_cast<std::uint32_t>(middle_j ? j - n : j);
    if (unit_i == unit_j) return;
    const Codes& x = middle_i ? a[unit_i].middle : a[unit_i].whole;
    const Codes& y = middle_j ? b[unit_j].middle : b[unit_j].whole;
    if (holds_all(terms, x, y)) add(unit_i, unit_j);
  }

  const Rule& rule_;
  RunContext& context_;
};

// Every unit's views in each of the eight orientations, from its thumbnail.
std::vector<std::array<Views, 8>> turned_views(const Library& library, const std::vector<Unit>& units, Catalog& catalog,
                                               RunContext& context) {
  std::vector<std::array<Views, 8>> out(units.size());
  constexpr std::size_t kBatch = 4096;
  std::vector<std::vector<std::uint8_t>> jpegs(kBatch);
  for (std::size_t begin = 0; begin < units.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, units.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      jpegs[i] = catalog.thumbnail(library.pictures[units[begin + i].pictures[0]].data.content)
                     .value_or(std::vector<std::uint8_t>());
    }
    context.executor.parallel_for(count, 16, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const auto thumbnail = decode_thumbnail(jpegs[i]);
        if (!thumbnail) continue;
        const auto small = squeezed(*thumbnail, alike::kSide);
        alike::Thumbnail pixels;
        std::copy(small.begin(), small.end(), pixels.begin());
        for (const Orientation o : kOrientations) {
          const alike::Thumbnail turned = alike::oriented(pixels, o);
          out[begin + i][index_of(o)] = {whole_codes(turned.data()), middle_codes(turned.data())};
        }
      }
    });
  }
  return out;
}

}  // namespace

std::array<int, 4> distances(const CatalogPicture& a, const CatalogPicture& b) {
  std::array<int, 4> out{};
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::popcount(a.codes[c] ^ b.codes[c]);
  return out;
}

bool holds(const Rule& rule, const CatalogPicture& a, const CatalogPicture& b) {
  return std::any_of(rule.alternatives.begin(), rule.alternatives.end(),
                     [&](const auto& terms) { return holds_all(terms, views_of(a).whole, views_of(b).whole); });
}

std::vector<Candidate> find_candidates(const Library& library, const std::vector<Unit>& units, const Rule& rule,
                                       bool orientations, Catalog& catalog, RunContext& context) {
  Trace::Stage& stage = context.trace.stage("find candidates", 1, "a smaller radius in --match");
  const Span span(stage);
  std::vector<Candidate> out;
  const Meeting meeting(rule, context);
  std::vector<Views> views;
  for (const Unit& unit : units) views.push_back(views_of(library.pictures[unit.pictures[0]].data));
  meeting.among(views, [&](std::uint32_t a, std::uint32_t b) { out.push_back({std::min(a, b), std::max(a, b), 1}); });
  if (orientations) {
    const auto turned = turned_views(library, units, catalog, context);
    for (std::size_t u = 0; u < units.size(); ++u) views[u] = turned[u][0];
    for (std::size_t o = 1; o < 8; ++o) {
      std::vector<Views> queries;
      for (const auto& all : turned) queries.push_back(all[o]);
      // A candidate turns its second; the pairs the other way round are found with the inverse orientation.
      meeting.between(queries, views, [&](std::uint32_t query, std::uint32_t base) {
        if (base < query) out.push_back({base, query, static_cast<std::uint8_t>(1 << o)});
      });
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Candidate& x, const Candidate& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].a == out[i].a && out[kept - 1].b == out[i].b) {
      out[kept - 1].orientations = static_cast<std::uint8_t>(out[kept - 1].orientations | out[i].orientations);
    } else {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
  return out;
}

}  // namespace millrace::dedupe
