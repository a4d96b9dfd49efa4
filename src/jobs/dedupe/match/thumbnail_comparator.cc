#include "src/jobs/dedupe/match/thumbnail_comparator.h"

#include <algorithm>

#include "src/jobs/dedupe/match/thumbnail_pixels.h"

namespace millrace::dedupe {
namespace {

// Number of the upright orientation in the catalog; earlier versions compared other orientations too.
constexpr std::uint8_t kUpright = 1;

}  // namespace

bool is_better_match(const Judgement& x, const Judgement& y) {
  const auto rank = [](const Judgement& j) {
    return j.kind == similarity::SimilarityKind::same ? 2 : j.kind == similarity::SimilarityKind::recoloured ? 1 : 0;
  };
  return rank(x) > rank(y) || (rank(x) == rank(y) && x.score > y.score);
}

CatalogScore score_of(const AppearancePair& pair, const Judgement& judgement) {
  return {pair.a, pair.b, kUpright, static_cast<std::uint8_t>(judgement.kind), judgement.score};
}

ThumbnailComparator::ThumbnailComparator(Catalog& catalog, RunContext& context) : catalog_(catalog), context_(context) {
  for (const CatalogScore& score : catalog.scores()) {
    if (score.orientation != kUpright || score.kind > 2) continue;
    known_.try_emplace({score.a, score.b}, Judgement{static_cast<similarity::SimilarityKind>(score.kind), score.score});
  }
}

std::vector<Judgement> ThumbnailComparator::verify(std::span<const AppearancePair> pairs, bool keep_them) {
  std::vector<Judgement> out(pairs.size());
  Progress progress(pairs.size() > 1000 ? context_.progress : ProgressStyle::none, "comparing", pairs.size());
  // A batch holds the features of at most two pictures per comparison.
  const std::uint64_t each = 2 * (sizeof(similarity::Features) + sizeof(similarity::Thumbnail));
  const std::uint64_t free = context_.budget.largest_grant().count / 4;
  const auto batch = static_cast<std::size_t>(std::clamp<std::uint64_t>(free / each, 8, 4096));
  Reservation reservation;
  std::vector<PendingPair> pending;
  Scratch scratch;
  for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    pending.clear();
    for (; end < pairs.size() && pending.size() < batch; ++end) {
      if (const auto known = known_.find(pairs[end]); known != known_.end()) {
        out[end] = known->second;
      } else {
        pending.push_back({pairs[end], end, {}});
      }
    }
    if (!pending.empty()) {
      if (reservation.size().count == 0)
        reservation = context_.budget.reserve({each * std::min(batch, pairs.size())}, "comparing pictures");
      compare_pending(pending, scratch);
      if (keep_them) keep(pending);
    }
    for (const PendingPair& one : pending) out[one.place] = one.result;
    progress.add(end - begin);
  }
  return out;
}

void ThumbnailComparator::keep(std::span<const PendingPair> pending) {
  std::vector<CatalogScore> scores;
  scores.reserve(pending.size());
  for (const PendingPair& one : pending) {
    known_.try_emplace(one.appearances, one.result);
    scores.push_back(score_of(one.appearances, one.result));
  }
  catalog_.put(scores);
  catalog_.flush_periodically();
}

void ThumbnailComparator::compare_pending(std::span<PendingPair> pending, Scratch& scratch) {
  Trace::Stage& stage = context_.trace.stage("compare pixels", context_.executor.threads(), "a stricter --match");
  // Each picture of the batch is decoded once.
  std::vector<std::uint64_t> appearances;
  for (const PendingPair& one : pending) appearances.insert(appearances.end(), {one.appearances.a, one.appearances.b});
  std::sort(appearances.begin(), appearances.end());
  appearances.erase(std::unique(appearances.begin(), appearances.end()), appearances.end());
  auto& jpegs = scratch.jpegs;
  auto& features = scratch.features;
  auto& usable = scratch.usable;
  if (features.size() < appearances.size()) features.resize(appearances.size());
  jpegs.assign(appearances.size(), {});
  usable.assign(appearances.size(), 0);
  for (std::size_t i = 0; i < appearances.size(); ++i) {
    if (auto jpeg = catalog_.thumbnail(appearances[i])) jpegs[i] = std::move(*jpeg);
  }
  context_.executor.parallel_for(appearances.size(), 4, [&](std::size_t from, std::size_t to) {
    const Span span(stage);
    for (std::size_t i = from; i < to; ++i) {
      const auto pixels = decode_thumbnail_pixels(jpegs[i]);
      if (!pixels) continue;
      features[i] = similarity::features_of(*pixels);
      usable[i] = 1;
    }
  });
  const auto at = [&](std::uint64_t thumbnail_digest) {
    return static_cast<std::size_t>(std::lower_bound(appearances.begin(), appearances.end(), thumbnail_digest) -
                                    appearances.begin());
  };
  context_.executor.parallel_for(pending.size(), 4, [&](std::size_t from, std::size_t to) {
    const Span span(stage);
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t a = at(pending[i].appearances.a), b = at(pending[i].appearances.b);
      if (usable[a] == 0 || usable[b] == 0) continue;
      const similarity::Comparison comparison = similarity::compare(features[a], features[b]);
      pending[i].result = {comparison.kind, comparison.score};
    }
  });
  if (context_.cancel.cancelled()) catalog_.flush();
  context_.throw_if_cancelled();
  compared_pairs_ += pending.size();
}

}  // namespace millrace::dedupe
