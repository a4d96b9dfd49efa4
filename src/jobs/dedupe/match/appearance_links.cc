#include "src/jobs/dedupe/match/appearance_links.h"

#include <algorithm>

#include "src/jobs/dedupe/match/dense_groups.h"
#include "src/jobs/dedupe/match/packed_codes.h"

namespace millrace::dedupe {
namespace {

// Number of appearances that are added to the index before their pairs are searched and compared.
constexpr std::size_t kMaxRowsAtOnce = 1 << 17;

// Returns the indices of the appearances that are in no batch of the catalog. Batches are sorted, like the appearances.
std::vector<std::uint32_t> find_missing(std::span<const std::uint64_t> appearances, const ComparedAppearances& join) {
  std::vector<bool> known(appearances.size(), false);
  for (const auto& part : join.parts) {
    auto at = appearances.begin();
    for_each_packed_codes(part, [&](const PackedCodes& one) {
      const std::uint64_t thumbnail_digest = one.thumbnail_digest;
      // The next appearance is nearly always adjacent, or far away.
      if (at != appearances.end() && *at < thumbnail_digest) ++at;
      if (at != appearances.end() && *at < thumbnail_digest)
        at = std::lower_bound(at, appearances.end(), thumbnail_digest);
      if (at != appearances.end() && *at == thumbnail_digest)
        known[static_cast<std::size_t>(at - appearances.begin())] = true;
    });
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < appearances.size(); ++i) {
    if (!known[i]) out.push_back(i);
  }
  return out;
}

Reservation reserve_pairs(const std::vector<RowPair>& rows, RunContext& context) {
  return context.budget.reserve({rows.size() * (sizeof(AppearancePair) + sizeof(Judgement))}, "candidates");
}

std::vector<AppearancePair> pairs_of(const CandidateIndex& index, const std::vector<RowPair>& rows) {
  std::vector<AppearancePair> pairs;
  pairs.reserve(rows.size());
  for (const RowPair& row : rows) {
    const std::uint64_t a = index.thumbnail_digest(row.a), b = index.thumbnail_digest(row.b);
    pairs.push_back({std::min(a, b), std::max(a, b)});
  }
  return pairs;
}

// Sorts the pairs so that those with a common member are adjacent: many pairs share the same few members.
std::vector<AppearancePair> sort_by_shared_member(std::vector<AppearancePair> pairs) {
  const auto order = [](const AppearancePair& p) {
    return DenseGroups::level_of(p.a) < DenseGroups::level_of(p.b) ? std::pair(p.a, p.b) : std::pair(p.b, p.a);
  };
  std::sort(pairs.begin(), pairs.end(),
            [&](const AppearancePair& x, const AppearancePair& y) { return order(x) < order(y); });
  return pairs;
}

std::vector<CatalogLink> links_of(const std::vector<AppearancePair>& pairs, const std::vector<Judgement>& judged) {
  std::vector<CatalogLink> links;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (judged[i].kind == similarity::SimilarityKind::different) continue;
    links.push_back({pairs[i].a, pairs[i].b, static_cast<std::uint8_t>(judged[i].kind), judged[i].score});
  }
  return links;
}

DenseGroups find_dense_groups_of(std::span<const std::uint64_t> appearances, const CodeLookup& codes_of,
                                 const MatchRule& rule, RunContext& context) {
  const Reservation reservation =
      context.budget.reserve({appearances.size() * sizeof(ThumbnailCodes)}, "hashes of all pictures");
  CodeColumns codes;
  codes.reserve(appearances.size());
  for (std::size_t i = 0; i < appearances.size(); ++i) codes.add(codes_of(i));
  return find_dense_groups(appearances, codes, rule, context);
}

class LinkFinder {
 public:
  LinkFinder(std::span<const std::uint64_t> appearances, const CodeLookup& codes_of, const MatchRule& rule,
             Catalog& catalog, ThumbnailComparator& thumbnail_comparator, RunContext& context)
      : appearances_(appearances),
        codes_of_(codes_of),
        rule_(rule),
        number_(catalog_rule_key(rule)),
        catalog_(catalog),
        thumbnail_comparator_(thumbnail_comparator),
        context_(context),
        index_(rule, context),
        join_(catalog.compared_appearances(number_)),
        parts_(join_.parts.size()) {
    for (const auto& part : join_.parts) {
      if (!part.empty() && part.size() % sizeof(PackedCodes) == 0) continue;
      // This program did not write such a batch: compare everything, and do not change the catalog.
      join_ = {};
      keeps_ = false;
      break;
    }
  }

  AppearanceLinks run() {
    dense_groups_ = find_dense_groups_of(appearances_, codes_of_, rule_, context_);
    std::vector<std::uint32_t> fresh = find_missing(appearances_, join_);
    std::uint64_t bytes = fresh.size() * sizeof(PackedCodes);
    for (const auto& part : join_.parts) bytes += part.size();
    Reservation reservation;
    if (!fresh.empty()) {
      reservation = context_.budget.reserve({bytes}, "hashes of all pictures");
      index_.reserve(bytes / sizeof(PackedCodes));
      for (auto& part : join_.parts) {
        for_each_packed_codes(part, [&](const PackedCodes& one) { index_.add(one.thumbnail_digest, one.codes); });
        part = {};
      }
    }
    const std::vector<std::uint32_t> apart = extract_dense_members(fresh);
    for (std::size_t begin = 0; begin < fresh.size(); begin += kMaxRowsAtOnce) {
      const std::uint32_t first = index_.rows();
      enter(std::span(fresh).subspan(begin, std::min<std::size_t>(kMaxRowsAtOnce, fresh.size() - begin)), index_);
      index_.for_each_batch(first, [&](std::uint32_t from, std::uint32_t to, const CandidatePairs& found) {
        compare_batch(from, to, found.pairs);
      });
    }
    compare_dense_members(apart);
    std::vector<CatalogLink> links = links_in_library();
    return {std::move(links), std::move(dense_groups_)};
  }

 private:
  // Members of dense groups are in no batch of the catalog: the library decides which images they are compared with.
  std::vector<std::uint32_t> extract_dense_members(std::vector<std::uint32_t>& fresh) const {
    std::vector<std::uint32_t> apart;
    const auto is_dense = [&](std::uint32_t i) { return dense_groups_.holds(appearances_[i]); };
    std::copy_if(fresh.begin(), fresh.end(), std::back_inserter(apart), is_dense);
    std::erase_if(fresh, is_dense);
    return apart;
  }

  void enter(std::span<const std::uint32_t> places, CandidateIndex& index) {
    for (const std::uint32_t i : places) index.add(appearances_[i], codes_of_(i));
  }

  // Compares pairs that involve a member of a dense group. The catalog keeps every judgement, whatever its kind.
  void compare_dense_members(std::span<const std::uint32_t> apart) {
    if (apart.empty()) return;
    const Reservation reservation = context_.budget.reserve(
        {appearances_.size() * (sizeof(PackedCodes) + sizeof(DenseGroups::Levels))}, "hashes of all pictures");
    std::vector<std::uint32_t> others;
    for (std::uint32_t i = 0, next = 0; i < appearances_.size(); ++i) {
      if (next < apart.size() && apart[next] == i) {
        ++next;
      } else {
        others.push_back(i);
      }
    }
    CandidateIndex index(rule_, context_, &dense_groups_);
    index.reserve(appearances_.size());
    enter(others, index);
    enter(apart, index);
    index.for_each_batch(
        static_cast<std::uint32_t>(others.size()), [&](std::uint32_t, std::uint32_t, const CandidatePairs& found) {
          const Reservation pairs_reservation = reserve_pairs(found.pairs, context_);
          const std::vector<AppearancePair> pairs = sort_by_shared_member(pairs_of(index, found.pairs));
          const std::vector<CatalogLink> links = links_of(pairs, thumbnail_comparator_.compare_and_store(pairs));
          join_.links.insert(join_.links.end(), links.begin(), links.end());
        });
  }

  // Compares the pairs of a batch, and writes the batch and its links to the catalog.
  void compare_batch(std::uint32_t begin, std::uint32_t end, const std::vector<RowPair>& rows) {
    const Reservation reservation = reserve_pairs(rows, context_);
    const std::vector<AppearancePair> pairs = pairs_of(index_, rows);
    const std::vector<CatalogLink> links = links_of(pairs, thumbnail_comparator_.compare(pairs));
    if (keeps_) {
      std::vector<std::uint8_t> part;
      for (std::uint32_t row = begin; row < end; ++row)
        append_packed_codes(part, {index_.thumbnail_digest(row), index_.codes(row)});
      keeps_ = catalog_.put_compared_appearances(number_, parts_, part, links);
      ++parts_;
    }
    join_.links.insert(join_.links.end(), links.begin(), links.end());
  }

  // Drops links to appearances that this library lacks, and links between appearances that are not compared in it.
  std::vector<CatalogLink> links_in_library() {
    const auto place = [&](std::uint64_t thumbnail_digest) {
      return static_cast<std::size_t>(std::lower_bound(appearances_.begin(), appearances_.end(), thumbnail_digest) -
                                      appearances_.begin());
    };
    const auto here = [&](const CatalogLink& link) {
      const std::size_t a = place(link.a), b = place(link.b);
      if (a == appearances_.size() || b == appearances_.size() || appearances_[a] != link.a ||
          appearances_[b] != link.b)
        return false;
      return dense_groups_.empty() || DenseGroups::are_compared(link.a, dense_groups_.levels_of(link.a), codes_of_(a),
                                                                link.b, dense_groups_.levels_of(link.b), codes_of_(b));
    };
    std::vector<CatalogLink> links = std::move(join_.links);
    std::erase_if(links, [&](const CatalogLink& link) { return !here(link); });
    std::sort(links.begin(), links.end(),
              [](const CatalogLink& x, const CatalogLink& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
    const auto twice = std::unique(links.begin(), links.end(),
                                   [](const CatalogLink& x, const CatalogLink& y) { return x.a == y.a && x.b == y.b; });
    links.erase(twice, links.end());
    return links;
  }

  const std::span<const std::uint64_t> appearances_;
  const CodeLookup& codes_of_;
  const MatchRule& rule_;
  const std::uint64_t number_;
  Catalog& catalog_;
  ThumbnailComparator& thumbnail_comparator_;
  RunContext& context_;
  CandidateIndex index_;
  DenseGroups dense_groups_;
  ComparedAppearances join_;
  std::size_t parts_;  // number of batches in the catalog
  bool keeps_ = true;  // false after another run wrote a batch first
};

}  // namespace

ShardedLinkSearch::ShardedLinkSearch(std::span<const std::uint64_t> appearances, const CodeLookup& codes_of,
                                     const MatchRule& rule, ThumbnailComparator& thumbnail_comparator,
                                     RunContext& context)
    : appearances_(appearances),
      codes_of_(codes_of),
      rule_(rule),
      thumbnail_comparator_(thumbnail_comparator),
      context_(context),
      dense_groups_(find_dense_groups_of(appearances, codes_of, rule, context)) {
  for (std::uint32_t i = 0; i < appearances_.size(); ++i) {
    if (dense_groups_.holds(appearances_[i])) continue;
    order_.push_back(i);
    outside_.push_back(appearances_[i]);
  }
  for (std::uint32_t i = 0; i < appearances_.size(); ++i) {
    if (dense_groups_.holds(appearances_[i])) order_.push_back(i);
  }
}

void ShardedLinkSearch::add_rows(CandidateIndex& index, std::size_t end) const {
  index.reserve(end);
  for (std::size_t row = 0; row < end; ++row) index.add(appearances_[order_[row]], codes_of_(order_[row]));
}

ComparedBatch ShardedLinkSearch::compare(std::size_t begin, std::size_t end) {
  ComparedBatch out;
  out.rule = catalog_rule_key(rule_);
  const Reservation reservation =
      context_.budget.reserve({end * (sizeof(PackedCodes) + sizeof(DenseGroups::Levels))}, "hashes of all pictures");
  const std::size_t last_outside = std::min(end, outside_.size());
  if (begin < last_outside) {
    CandidateIndex index(rule_, context_);
    add_rows(index, last_outside);
    index.for_each_batch(static_cast<std::uint32_t>(begin), [&](auto, auto, const CandidatePairs& found) {
      const Reservation pairs_reservation = reserve_pairs(found.pairs, context_);
      const std::vector<AppearancePair> pairs = pairs_of(index, found.pairs);
      const std::vector<CatalogLink> links = links_of(pairs, thumbnail_comparator_.compare(pairs));
      out.links.insert(out.links.end(), links.begin(), links.end());
    });
    for (auto row = static_cast<std::uint32_t>(begin); row < last_outside; ++row)
      append_packed_codes(out.compared_appearances, {index.thumbnail_digest(row), index.codes(row)});
  }
  const std::size_t first_dense = std::max(begin, outside_.size());
  if (first_dense < end) {
    CandidateIndex index(rule_, context_, &dense_groups_);
    add_rows(index, end);
    index.for_each_batch(static_cast<std::uint32_t>(first_dense), [&](auto, auto, const CandidatePairs& found) {
      const Reservation pairs_reservation = reserve_pairs(found.pairs, context_);
      const std::vector<AppearancePair> pairs = sort_by_shared_member(pairs_of(index, found.pairs));
      const std::vector<Judgement> judged = thumbnail_comparator_.compare_and_store(pairs);
      for (std::size_t i = 0; i < pairs.size(); ++i) out.scores.push_back(score_of(pairs[i], judged[i]));
    });
  }
  return out;
}

AppearanceLinks find_links(std::span<const std::uint64_t> appearances, const CodeLookup& codes_of,
                           const MatchRule& rule, Catalog& catalog, ThumbnailComparator& thumbnail_comparator,
                           RunContext& context) {
  return LinkFinder(appearances, codes_of, rule, catalog, thumbnail_comparator, context).run();
}

}  // namespace millrace::dedupe
