#include "src/jobs/dedupe/candidates.h"

#include <algorithm>
#include <bit>
#include <map>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/kernels/hamming/hamming.h"
#include "src/kernels/luma/luma.h"
#include "src/kernels/resize/resize.h"

namespace millrace::dedupe {
namespace {

using Codes = std::array<std::uint64_t, 4>;

std::size_t slot_of(HashKind kind) {
  return static_cast<std::size_t>(std::find(kCatalogCodes.begin(), kCatalogCodes.end(), kind) - kCatalogCodes.begin());
}

bool holds_all(const std::vector<RuleTerm>& terms, const Codes& a, const Codes& b) {
  return std::all_of(terms.begin(), terms.end(), [&](const RuleTerm& term) {
    const std::size_t slot = slot_of(term.kind);
    return std::popcount(a[slot] ^ b[slot]) <= term.radius;
  });
}

// The hashes of a turned thumbnail: near those of the turned picture, which is all that a candidate needs.
Codes codes_of(const alike::Thumbnail& pixels) {
  std::array<std::uint8_t, alike::kSide * alike::kSide> luma;
  luma_from_rgb(pixels.data(), luma.data(), luma.size());
  const auto reduced = [&](int width, int height) {
    Resizer resizer(alike::kSide, alike::kSide, width, height);
    resizer.push(luma.data(), alike::kSide, alike::kSide);
    const std::uint8_t* out = resizer.result();
    return std::vector<std::uint8_t>(out, out + static_cast<std::ptrdiff_t>(width) * height);
  };
  Codes codes{};
  for (std::size_t c = 0; c < kCatalogCodes.size(); ++c) {
    switch (kCatalogCodes[c]) {
      case HashKind::dhash: codes[c] = packed64(dhash_of(reduced(9, 8).data(), 8)); break;
      case HashKind::ahash: codes[c] = packed64(ahash_of(reduced(8, 8).data(), 8)); break;
      case HashKind::dhash_vertical: codes[c] = packed64(dhash_vertical_of(reduced(8, 9).data(), 8)); break;
      default: codes[c] = packed64(phash_of(reduced(32, 32).data(), 8)); break;
    }
  }
  return codes;
}

// Of every unit, its codes in the seven other orientations.
std::vector<std::array<Codes, 8>> turned_codes(const Library& library, const std::vector<Unit>& units, Catalog& catalog,
                                               RunContext& context) {
  std::vector<std::array<Codes, 8>> out(units.size());
  constexpr std::size_t kBatch = 4096;
  std::vector<std::vector<std::uint8_t>> jpegs(kBatch);
  for (std::size_t begin = 0; begin < units.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, units.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      jpegs[i] = catalog.thumbnail(library.pictures[units[begin + i].pictures[0]].data.content).value_or(std::vector<std::uint8_t>());
    }
    context.executor.parallel_for(count, 16, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const auto thumbnail = decode_thumbnail(jpegs[i]);
        if (!thumbnail) continue;
        const auto small = squeezed(*thumbnail, alike::kSide);
        alike::Thumbnail pixels;
        std::copy(small.begin(), small.end(), pixels.begin());
        for (int o = 0; o < alike::kOrientations; ++o) {
          out[begin + i][static_cast<std::size_t>(o)] = codes_of(alike::oriented(pixels, o));
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
                     [&](const auto& terms) { return holds_all(terms, a.codes, b.codes); });
}

std::vector<Candidate> find_candidates(const Library& library, const std::vector<Unit>& units, const Rule& rule,
                                       bool orientations, Catalog& catalog, RunContext& context) {
  Trace::Stage& stage = context.trace.stage("find candidates", 1, "a smaller radius in --match");
  const Span span(stage);
  const auto codes = [&](std::size_t unit) -> const Codes& { return library.pictures[units[unit].pictures[0]].data.codes; };
  std::vector<Candidate> out;
  const auto add = [&](std::uint32_t a, std::uint32_t b, int orientation) {
    out.push_back({a, b, static_cast<std::uint8_t>(1 << orientation)});
  };
  for (const auto& terms : rule.alternatives) {
    const std::size_t slot = slot_of(terms[0].kind);
    std::vector<std::uint64_t> column;
    for (std::size_t u = 0; u < units.size(); ++u) column.push_back(codes(u)[slot]);
    hamming::Options join;
    join.radius = terms[0].radius;
    const hamming::Joined joined = hamming::self_join(column, join, context.executor, context.budget);
    hamming::expand(joined, context.executor, context.budget, [&](std::span<const hamming::Pair> pairs) {
      for (const hamming::Pair& pair : pairs) {
        if (holds_all(terms, codes(pair.i), codes(pair.j))) add(pair.i, pair.j, 0);
      }
    });
  }
  if (orientations) {
    const auto turned = turned_codes(library, units, catalog, context);
    for (const auto& terms : rule.alternatives) {
      const std::size_t slot = slot_of(terms[0].kind);
      std::vector<std::uint64_t> base, queries;
      for (std::size_t u = 0; u < units.size(); ++u) base.push_back(turned[u][0][slot]);
      for (std::size_t o = 1; o < 8; ++o) {
        queries.clear();
        for (std::size_t u = 0; u < units.size(); ++u) queries.push_back(turned[u][o][slot]);
        hamming::Options search;
        search.radius = terms[0].radius;
        const hamming::Found found = hamming::search(queries, base, search, context.executor, context.budget);
        for (const hamming::Pair& pair : found.pairs.list.span()) {
          // The query is the turned one; a candidate turns its second, so pairs the other way round are found when
          // the inverse orientation is searched.
          if (pair.i > pair.j && holds_all(terms, turned[pair.i][o], turned[pair.j][0])) add(pair.j, pair.i, static_cast<int>(o));
        }
      }
    }
  }
  std::sort(out.begin(), out.end(), [](const Candidate& x, const Candidate& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
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
