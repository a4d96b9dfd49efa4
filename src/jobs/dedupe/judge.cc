#include "src/jobs/dedupe/judge.h"

#include <algorithm>

#include "src/io/image/thumbnail_jpeg.h"

namespace millrace::dedupe {

Judge::Judge(const Library& library, Catalog& catalog, RunContext& context)
    : library_(library), catalog_(catalog), context_(context) {
  const auto index_of = [&](const ContentHash& content) -> std::uint32_t {
    const auto found = std::lower_bound(library.pictures.begin(), library.pictures.end(), content,
                                        [](const Picture& p, const ContentHash& c) { return p.data.content < c; });
    if (found == library.pictures.end() || found->data.content != content) return kNone;
    return static_cast<std::uint32_t>(found - library.pictures.begin());
  };
  for (const CatalogScore& score : catalog.scores()) {
    const std::uint32_t a = index_of(score.a), b = index_of(score.b);
    if (a == kNone || b == kNone || score.orientation < 1 || score.orientation > 8 || score.kind > 2) continue;
    const auto orientation = static_cast<Orientation>(score.orientation);
    known_.emplace(key_of(a, b, orientation), Judgement{static_cast<alike::Kind>(score.kind), score.score});
  }
}

void Judge::look_at(const std::vector<Candidate>& candidates) {
  std::vector<Look> looks;
  for (const Candidate& c : candidates) {
    for (const Orientation o : kOrientations) {
      if (c.in(o) && known_.count(key_of(c.a, c.b, o)) == 0) looks.push_back({c.a, c.b, o, {}});
    }
  }
  if (looks.empty()) return;
  Progress progress(looks.size() > 1000 ? context_.progress : ProgressStyle::none, "comparing", looks.size());
  // A batch holds the features of at most two pictures a look.
  const std::uint64_t each = 2 * (sizeof(alike::Features) + sizeof(alike::Thumbnail));
  const std::uint64_t free = context_.budget.largest_grant().count / 4;
  const auto batch = static_cast<std::size_t>(std::clamp<std::uint64_t>(free / each, 1, 4096));
  const Reservation paid = context_.budget.reserve({each * std::min(batch, looks.size())}, "comparing pictures");
  for (std::size_t begin = 0; begin < looks.size(); begin += batch) {
    const std::size_t end = std::min(begin + batch, looks.size());
    run_batch(looks, begin, end);
    if (context_.cancel.cancelled()) {
      catalog_.flush();
      throw Failure(ErrorCode::cancelled, "interrupted; the same command goes on where this one stopped");
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Look& look = looks[i];
      known_.emplace(key_of(look.a, look.b, look.orientation), look.result);
      catalog_.put(CatalogScore{library_.pictures[look.a].data.content, library_.pictures[look.b].data.content,
                                static_cast<std::uint8_t>(look.orientation),
                                static_cast<std::uint8_t>(look.result.kind), look.result.score});
    }
    catalog_.flush_now_and_then();
    progress.add(end - begin);
  }
  looked_at_ += looks.size();
}

void Judge::run_batch(std::vector<Look>& looks, std::size_t begin, std::size_t end) {
  Trace::Stage& stage = context_.trace.stage("compare pixels", context_.executor.threads(), "a stricter --match");
  // Each picture of the batch once in each orientation that is asked for.
  std::vector<std::uint64_t> views;
  const auto view_of = [](std::uint32_t picture, Orientation o) {
    return static_cast<std::uint64_t>(picture) << 3 | index_of(o);
  };
  for (std::size_t i = begin; i < end; ++i) {
    views.push_back(view_of(looks[i].a, Orientation::upright));
    views.push_back(view_of(looks[i].b, looks[i].orientation));
  }
  std::sort(views.begin(), views.end());
  views.erase(std::unique(views.begin(), views.end()), views.end());
  std::vector<std::vector<std::uint8_t>> jpegs(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (auto jpeg = catalog_.thumbnail(library_.pictures[views[i] >> 3].data.content)) jpegs[i] = std::move(*jpeg);
  }
  std::vector<alike::Features> features(views.size());
  std::vector<std::uint8_t> usable(views.size(), 0);
  context_.executor.parallel_for(views.size(), 4, [&](std::size_t from, std::size_t to) {
    const Span span(stage);
    for (std::size_t i = from; i < to; ++i) {
      const auto thumbnail = decode_thumbnail(jpegs[i]);
      if (!thumbnail) continue;
      alike::Thumbnail pixels;
      const auto small = squeezed(*thumbnail, alike::kSide);
      std::copy(small.begin(), small.end(), pixels.begin());
      features[i] = alike::features_of(alike::oriented(pixels, kOrientations[views[i] & 7]));
      usable[i] = 1;
    }
  });
  const auto at = [&](std::uint32_t picture, Orientation o) {
    return static_cast<std::size_t>(std::lower_bound(views.begin(), views.end(), view_of(picture, o)) - views.begin());
  };
  context_.executor.parallel_for(end - begin, 4, [&](std::size_t from, std::size_t to) {
    const Span span(stage);
    for (std::size_t i = begin + from; i < begin + to; ++i) {
      const std::size_t a = at(looks[i].a, Orientation::upright), b = at(looks[i].b, looks[i].orientation);
      if (usable[a] == 0 || usable[b] == 0) continue;
      const alike::Verdict verdict = alike::compare(features[a], features[b]);
      looks[i].result = {verdict.kind, verdict.score};
    }
  });
}

Judgement Judge::judgement(const Candidate& candidate) {
  look_at({candidate});
  Judgement best;
  const auto rank = [](const Judgement& j) {
    return j.kind == alike::Kind::same ? 2 : j.kind == alike::Kind::recoloured ? 1 : 0;
  };
  for (const Orientation o : kOrientations) {
    if (!candidate.in(o)) continue;
    const Judgement j = known_.at(key_of(candidate.a, candidate.b, o));
    if (rank(j) > rank(best) || (rank(j) == rank(best) && j.score > best.score)) best = j;
  }
  return best;
}

}  // namespace millrace::dedupe
