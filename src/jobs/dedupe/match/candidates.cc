#include "src/jobs/dedupe/match/candidates.h"

#include <algorithm>
#include <numeric>

#include "src/kernels/orient/orient.h"
#include "src/memory/backing_off.h"

namespace millrace::dedupe {

CandidateIndex::CandidateIndex(const Rule& rule, bool orientations, RunContext& context, const Crowds* crowds)
    : rule_(rule),
      context_(context),
      views_(orientations ? kOrientations.size() : 1),
      crowds_(crowds != nullptr && !crowds->empty() ? crowds : nullptr) {}

void CandidateIndex::add(std::uint64_t appearance, std::span<const ThumbnailCodes> views) {
  appearances_.push_back(appearance);
  if (crowds_ != nullptr) levels_.push_back(crowds_->levels_of(appearance));
  for (std::size_t v = 0; v < views_.size(); ++v) views_[v].add(views[v]);
}

void CandidateIndex::reserve(std::size_t count) {
  appearances_.reserve(appearances_.size() + count);
  for (CodeColumns& view : views_) view.reserve(count);
}

ThumbnailCodes CandidateIndex::codes(std::uint32_t row, std::size_t view) const { return views_[view].at(row); }

std::optional<std::array<int, 4>> CandidateIndex::nearest(std::uint32_t a, std::uint32_t b) const {
  if (appearances_[a] < appearances_[b]) std::swap(a, b);  // the greater appearance is turned
  const ThumbnailCodes upright = codes(b, 0);
  std::optional<std::array<int, 4>> best;
  const auto sum = [](const std::array<int, 4>& bits) { return std::accumulate(bits.begin(), bits.end(), 0); };
  for (std::size_t view = 0; view < views_.size(); ++view) {
    const ThumbnailCodes turned = codes(a, view);
    if (!holds(rule_, turned, upright)) continue;
    const auto bits = distances(turned, upright);
    if (!best || sum(bits) < sum(*best)) best = bits;
  }
  return best;
}

bool CandidateIndex::are_compared(std::uint32_t i, std::uint32_t j) const {
  if (crowds_ == nullptr) return true;
  // Of a crowd's pairs nearly none.
  const int level_i = Crowds::level_of(appearances_[i]), level_j = Crowds::level_of(appearances_[j]);
  if (level_i < levels_[j].front() && level_j < levels_[i].front()) return false;
  return Crowds::compared(appearances_[i], levels_[i], codes(i, 0), appearances_[j], levels_[j], codes(j, 0));
}

void CandidateIndex::search_views(const CodeColumns& queries, const CodeColumns& base, std::uint32_t begin,
                                  std::uint32_t end, std::uint8_t orientation, const Fits& fits,
                                  CandidatePairs& out) const {
  for (const HashView& hash_view : views_of_rule(rule_)) {
    for (const auto& terms : rule_.alternatives) {
      const auto also = [&](std::uint32_t i, std::uint32_t j) {
        return j < begin + i && (!fits || fits(appearances_[begin + i], appearances_[j])) && are_compared(begin + i, j);
      };
      const hamming::Found found = dedupe::search(terms, {&queries, begin, end, &base, end}, hash_view,
                                                  context_.engines(), context_.budget, also);
      out.memory.push_back(context_.budget.reserve({found.pairs.list.size() * sizeof(RowPair)}, "candidates"));
      out.pairs.reserve(out.pairs.size() + found.pairs.list.size());
      for (const hamming::Pair& pair : found.pairs.list.span())
        out.pairs.push_back({pair.j, begin + pair.i, static_cast<std::uint8_t>(1 << orientation)});
    }
  }
}

CandidatePairs CandidateIndex::search(std::uint32_t begin, std::uint32_t end) const {
  Trace::Stage& stage = context_.trace.stage("find candidates", 1, "a smaller radius in --match");
  const Span span(stage);
  CandidatePairs found;
  search_views(views_[0], views_[0], begin, end, 0, nullptr, found);
  for (std::size_t o = 1; o < views_.size(); ++o) {
    const auto orientation = static_cast<std::uint8_t>(o);
    search_views(views_[o], views_[0], begin, end, orientation, std::greater<>(), found);
    search_views(views_[0], views_[o], begin, end, orientation, std::less<>(), found);
  }
  std::vector<RowPair>& out = found.pairs;
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
  return found;
}

void CandidateIndex::each_part(
    std::uint32_t first, const std::function<void(std::uint32_t, std::uint32_t, const CandidatePairs&)>& visit) const {
  // More at a time take more memory for their pairs, fewer build the searches' tables more often. A million
  // appearances, in parts of 131,072 and 65,536, take 18 s.
  constexpr std::uint32_t kMostAtOnce = 1 << 17, kFewestAtOnce = 256;
  constexpr std::size_t kManyPairs = 1 << 21;
  backing_off(first, rows(), {kMostAtOnce, kFewestAtOnce}, [&](std::uint64_t from, std::uint64_t to) {
    const auto begin = static_cast<std::uint32_t>(from), end = static_cast<std::uint32_t>(to);
    const CandidatePairs found = search(begin, end);
    visit(begin, end, found);
    return found.pairs.size() >= kManyPairs ? Fit::tight : Fit::easy;
  });
}

}  // namespace millrace::dedupe
