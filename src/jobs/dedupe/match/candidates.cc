#include "src/jobs/dedupe/match/candidates.h"

#include <algorithm>

#include "src/memory/batch_backoff.h"

namespace millrace::dedupe {

CandidateIndex::CandidateIndex(const MatchRule& rule, RunContext& context, const DenseGroups* dense_groups)
    : rule_(rule),
      context_(context),
      dense_groups_(dense_groups != nullptr && !dense_groups->empty() ? dense_groups : nullptr) {}

void CandidateIndex::add(std::uint64_t thumbnail_digest, const ThumbnailCodes& codes) {
  appearances_.push_back(thumbnail_digest);
  if (dense_groups_ != nullptr) levels_.push_back(dense_groups_->levels_of(thumbnail_digest));
  codes_.add(codes);
}

void CandidateIndex::reserve(std::size_t count) {
  appearances_.reserve(appearances_.size() + count);
  codes_.reserve(count);
}

std::optional<std::array<int, 4>> CandidateIndex::count_differing_bits(std::uint32_t a, std::uint32_t b) const {
  const ThumbnailCodes x = codes(a), y = codes(b);
  if (!holds(rule_, x, y)) return std::nullopt;
  return distances(x, y);
}

bool CandidateIndex::are_compared(std::uint32_t i, std::uint32_t j) const {
  if (dense_groups_ == nullptr) return true;
  // Levels grow with the distance, so front() is the lowest. This check rejects nearly all pairs in a dense group.
  const int level_i = DenseGroups::level_of(appearances_[i]), level_j = DenseGroups::level_of(appearances_[j]);
  if (level_i < levels_[j].front() && level_j < levels_[i].front()) return false;
  return DenseGroups::are_compared(appearances_[i], levels_[i], codes(i), appearances_[j], levels_[j], codes(j));
}

CandidatePairs CandidateIndex::search(std::uint32_t begin, std::uint32_t end) const {
  Trace::Stage& stage = context_.trace.stage("find candidates", 1, "a smaller radius in --match");
  const Span span(stage);
  CandidatePairs out;
  const auto also = [&](std::uint32_t i, std::uint32_t j) { return j < begin + i && are_compared(begin + i, j); };
  for (const HashView& hash_view : views_of_rule(rule_)) {
    for (const auto& terms : rule_.alternatives) {
      const hamming::CodeSearchResult found = dedupe::search(terms, {&codes_, begin, end, &codes_, end}, hash_view,
                                                             context_.engines(), context_.budget, also);
      out.memory.push_back(context_.budget.reserve({found.pairs.list.size() * sizeof(RowPair)}, "candidates"));
      out.pairs.reserve(out.pairs.size() + found.pairs.list.size());
      for (const hamming::HammingPair& pair : found.pairs.list.span()) out.pairs.push_back({pair.j, begin + pair.i});
    }
  }
  std::sort(out.pairs.begin(), out.pairs.end());
  out.pairs.erase(std::unique(out.pairs.begin(), out.pairs.end()), out.pairs.end());
  return out;
}

void CandidateIndex::for_each_batch(
    std::uint32_t first, const std::function<void(std::uint32_t, std::uint32_t, const CandidatePairs&)>& visit) const {
  // Larger batches need more memory for their pairs; smaller ones build the search tables more often. A million
  // appearances, in batches of 131,072 and 65,536, take 18 s.
  // docs/design/similarity.md gives the reasons for the constants of this file.
  constexpr std::uint32_t kMaxBatch = 1 << 17, kMinBatch = 256;
  constexpr std::size_t kManyPairs = 1 << 21;
  run_with_backoff(first, rows(), {kMaxBatch, kMinBatch}, [&](std::uint64_t from, std::uint64_t to) {
    const auto begin = static_cast<std::uint32_t>(from), end = static_cast<std::uint32_t>(to);
    const CandidatePairs found = search(begin, end);
    visit(begin, end, found);
    return found.pairs.size() >= kManyPairs ? BatchFit::tight : BatchFit::easy;
  });
}

}  // namespace millrace::dedupe
