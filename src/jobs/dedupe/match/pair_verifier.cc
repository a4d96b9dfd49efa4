#include "src/jobs/dedupe/match/pair_verifier.h"

#include <algorithm>

#include "src/jobs/dedupe/match/turned_thumbnails.h"

namespace millrace::dedupe {
namespace {

// An appearance in an orientation, as it is compared.
struct View {
  std::uint64_t appearance;
  Orientation orientation;
  bool operator==(const View&) const = default;
  bool operator<(const View& other) const {
    return appearance != other.appearance ? appearance < other.appearance : orientation < other.orientation;
  }
};

}  // namespace

bool better(const Judgement& x, const Judgement& y) {
  const auto rank = [](const Judgement& j) {
    return j.kind == similarity::Kind::same ? 2 : j.kind == similarity::Kind::recoloured ? 1 : 0;
  };
  return rank(x) > rank(y) || (rank(x) == rank(y) && x.score > y.score);
}

PairVerifier::PairVerifier(Catalog& catalog, RunContext& context) : catalog_(catalog), context_(context) {
  for (const CatalogScore& score : catalog.scores()) {
    if (score.orientation < 1 || score.orientation > kOrientations.size() || score.kind > 2) continue;
    known_.try_emplace({score.a, score.b, static_cast<Orientation>(score.orientation)},
                       Judgement{static_cast<similarity::Kind>(score.kind), score.score});
  }
}

std::vector<Judgement> PairVerifier::verify(std::span<const AppearancePair> pairs, bool keep_them) {
  std::vector<Judgement> out(pairs.size());
  Progress progress(pairs.size() > 1000 ? context_.progress : ProgressStyle::none, "comparing", pairs.size());
  // A batch holds the features of at most two pictures a comparison.
  const std::uint64_t each = 2 * (sizeof(similarity::Features) + sizeof(similarity::Thumbnail));
  const std::uint64_t free = context_.budget.largest_grant().count / 4;
  const auto batch = static_cast<std::size_t>(std::clamp<std::uint64_t>(free / each, 8, 4096));
  Reservation paid;
  std::vector<PendingPair> pending;
  Scratch scratch;
  for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    pending.clear();
    for (; end < pairs.size() && (pending.empty() || pending.size() + kOrientations.size() <= batch); ++end) {
      for (const Orientation o : kOrientations) {
        if (!pairs[end].in(o)) continue;
        const auto known = known_.find({pairs[end].a, pairs[end].b, o});
        if (known == known_.end()) {
          pending.push_back({pairs[end].a, pairs[end].b, o, end, {}});
        } else if (better(known->second, out[end])) {
          out[end] = known->second;
        }
      }
    }
    if (!pending.empty()) {
      if (paid.size().count == 0)
        paid = context_.budget.reserve({each * std::min(batch, kOrientations.size() * pairs.size())},
                                       "comparing pictures");
      look_at(pending, scratch);
      if (keep_them) keep(pending);
    }
    for (const PendingPair& one : pending) {
      if (better(one.result, out[one.pair])) out[one.pair] = one.result;
    }
    progress.add(end - begin);
  }
  return out;
}

void PairVerifier::keep(std::span<const PendingPair> pending) {
  std::vector<CatalogScore> scores;
  scores.reserve(pending.size());
  for (const PendingPair& one : pending) {
    known_.try_emplace({one.a, one.b, one.orientation}, one.result);
    scores.push_back({one.a, one.b, static_cast<std::uint8_t>(one.orientation),
                      static_cast<std::uint8_t>(one.result.kind), one.result.score});
  }
  catalog_.put(scores);
  catalog_.flush_now_and_then();
}

void PairVerifier::look_at(std::span<PendingPair> pending, Scratch& scratch) {
  Trace::Stage& stage = context_.trace.stage("compare pixels", context_.executor.threads(), "a stricter --match");
  // Each picture of the batch once in each orientation that is asked for.
  std::vector<View> views;
  for (const PendingPair& one : pending) {
    views.push_back({one.a, Orientation::upright});
    views.push_back({one.b, one.orientation});
  }
  std::sort(views.begin(), views.end());
  views.erase(std::unique(views.begin(), views.end()), views.end());
  auto& jpegs = scratch.jpegs;
  auto& features = scratch.features;
  auto& usable = scratch.usable;
  if (features.size() < views.size()) features.resize(views.size());
  jpegs.assign(views.size(), {});
  usable.assign(views.size(), 0);
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (auto jpeg = catalog_.thumbnail(views[i].appearance)) jpegs[i] = std::move(*jpeg);
  }
  context_.executor.parallel_for(views.size(), 4, [&](std::size_t from, std::size_t to) {
    const Span span(stage);
    for (std::size_t i = from; i < to; ++i) {
      const auto pixels = thumbnail_pixels(jpegs[i]);
      if (!pixels) continue;
      features[i] = similarity::features_of(similarity::oriented(*pixels, views[i].orientation));
      usable[i] = 1;
    }
  });
  const auto at = [&](const View& view) {
    return static_cast<std::size_t>(std::lower_bound(views.begin(), views.end(), view) - views.begin());
  };
  context_.executor.parallel_for(pending.size(), 4, [&](std::size_t from, std::size_t to) {
    const Span span(stage);
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t a = at({pending[i].a, Orientation::upright}), b = at({pending[i].b, pending[i].orientation});
      if (usable[a] == 0 || usable[b] == 0) continue;
      const similarity::Comparison comparison = similarity::compare(features[a], features[b]);
      pending[i].result = {comparison.kind, comparison.score};
    }
  });
  if (context_.cancel.cancelled()) catalog_.flush();
  context_.throw_if_cancelled();
  looked_at_ += pending.size();
}

}  // namespace millrace::dedupe
