#include "src/jobs/dedupe/match/links.h"

#include <algorithm>

#include "src/jobs/dedupe/match/crowds.h"
#include "src/jobs/dedupe/match/joined_parts.h"

namespace millrace::dedupe {
namespace {

// Number of appearances that are added to the index before their pairs are searched and compared.
constexpr std::size_t kEnteredAtOnce = 1 << 17;

// Returns the indices of the appearances that are in no batch of the catalog. Batches are sorted, like the appearances.
std::vector<std::uint32_t> missing(std::span<const std::uint64_t> appearances, const CatalogJoin& join) {
  std::vector<bool> known(appearances.size(), false);
  for (const auto& part : join.parts) {
    auto at = appearances.begin();
    each_packed(part, [&](const PackedCodes& one) {
      const std::uint64_t appearance = one.appearance;
      // The next appearance is nearly always adjacent, or far away.
      if (at != appearances.end() && *at < appearance) ++at;
      if (at != appearances.end() && *at < appearance) at = std::lower_bound(at, appearances.end(), appearance);
      if (at != appearances.end() && *at == appearance)
        known[static_cast<std::size_t>(at - appearances.begin())] = true;
    });
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < appearances.size(); ++i) {
    if (!known[i]) out.push_back(i);
  }
  return out;
}

Reservation pay(const std::vector<RowPair>& rows, RunContext& context) {
  return context.budget.reserve({rows.size() * (sizeof(AppearancePair) + sizeof(Judgement))}, "candidates");
}

std::vector<AppearancePair> pairs_of(const CandidateIndex& index, const std::vector<RowPair>& rows) {
  std::vector<AppearancePair> pairs;
  pairs.reserve(rows.size());
  for (const RowPair& row : rows) {
    const std::uint64_t a = index.appearance(row.a), b = index.appearance(row.b);
    pairs.push_back({std::min(a, b), std::max(a, b)});
  }
  return pairs;
}

// Sorts the pairs so that those with a common member are adjacent: many pairs share the same few members.
std::vector<AppearancePair> in_neighbourhoods(std::vector<AppearancePair> pairs) {
  const auto order = [](const AppearancePair& p) {
    return Crowds::level_of(p.a) < Crowds::level_of(p.b) ? std::pair(p.a, p.b) : std::pair(p.b, p.a);
  };
  std::sort(pairs.begin(), pairs.end(),
            [&](const AppearancePair& x, const AppearancePair& y) { return order(x) < order(y); });
  return pairs;
}

std::vector<CatalogLink> links_of(const std::vector<AppearancePair>& pairs, const std::vector<Judgement>& judged) {
  std::vector<CatalogLink> links;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (judged[i].kind == similarity::Kind::different) continue;
    links.push_back({pairs[i].a, pairs[i].b, static_cast<std::uint8_t>(judged[i].kind), judged[i].score});
  }
  return links;
}

Crowds crowds_of(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule,
                 RunContext& context) {
  const Reservation paid =
      context.budget.reserve({appearances.size() * sizeof(ThumbnailCodes)}, "hashes of all pictures");
  CodeColumns codes;
  codes.reserve(appearances.size());
  for (std::size_t i = 0; i < appearances.size(); ++i) codes.add(codes_of(i));
  return find_crowds(appearances, codes, rule, context);
}

class Linking {
 public:
  Linking(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule, Catalog& catalog,
          PairVerifier& verifier, RunContext& context)
      : appearances_(appearances),
        codes_of_(codes_of),
        rule_(rule),
        number_(rule_number(rule)),
        catalog_(catalog),
        verifier_(verifier),
        context_(context),
        index_(rule, context),
        join_(catalog.joined(number_)),
        parts_(join_.parts.size()) {
    for (const auto& part : join_.parts) {
      if (!part.empty() && part.size() % sizeof(PackedCodes) == 0) continue;
      // This program did not write such a batch: compare everything, and do not change the catalog.
      join_ = {};
      keeps_ = false;
      break;
    }
  }

  FoundLinks run() {
    crowds_ = crowds_of(appearances_, codes_of_, rule_, context_);
    std::vector<std::uint32_t> fresh = missing(appearances_, join_);
    std::uint64_t bytes = fresh.size() * sizeof(PackedCodes);
    for (const auto& part : join_.parts) bytes += part.size();
    Reservation paid;
    if (!fresh.empty()) {
      paid = context_.budget.reserve({bytes}, "hashes of all pictures");
      index_.reserve(bytes / sizeof(PackedCodes));
      for (auto& part : join_.parts) {
        each_packed(part, [&](const PackedCodes& one) { index_.add(one.appearance, one.codes); });
        part = {};
      }
    }
    const std::vector<std::uint32_t> apart = take_crowded(fresh);
    for (std::size_t begin = 0; begin < fresh.size(); begin += kEnteredAtOnce) {
      const std::uint32_t first = index_.rows();
      enter(std::span(fresh).subspan(begin, std::min<std::size_t>(kEnteredAtOnce, fresh.size() - begin)), index_);
      index_.each_part(first, [&](std::uint32_t from, std::uint32_t to, const CandidatePairs& found) {
        join_part(from, to, found.pairs);
      });
    }
    join_crowded(apart);
    std::vector<CatalogLink> links = links_here();
    return {std::move(links), std::move(crowds_)};
  }

 private:
  // Members of dense groups are in no batch of the catalog: the library decides which images they are compared with.
  std::vector<std::uint32_t> take_crowded(std::vector<std::uint32_t>& fresh) const {
    std::vector<std::uint32_t> apart;
    const auto crowded = [&](std::uint32_t i) { return crowds_.holds(appearances_[i]); };
    std::copy_if(fresh.begin(), fresh.end(), std::back_inserter(apart), crowded);
    std::erase_if(fresh, crowded);
    return apart;
  }

  void enter(std::span<const std::uint32_t> places, CandidateIndex& index) {
    for (const std::uint32_t i : places) index.add(appearances_[i], codes_of_(i));
  }

  // Compares pairs that involve a member of a dense group. The catalog keeps every judgement, whatever its kind.
  void join_crowded(std::span<const std::uint32_t> apart) {
    if (apart.empty()) return;
    const Reservation paid = context_.budget.reserve(
        {appearances_.size() * (sizeof(PackedCodes) + sizeof(Crowds::Levels))}, "hashes of all pictures");
    std::vector<std::uint32_t> others;
    for (std::uint32_t i = 0, next = 0; i < appearances_.size(); ++i) {
      if (next < apart.size() && apart[next] == i) {
        ++next;
      } else {
        others.push_back(i);
      }
    }
    CandidateIndex index(rule_, context_, &crowds_);
    index.reserve(appearances_.size());
    enter(others, index);
    enter(apart, index);
    index.each_part(static_cast<std::uint32_t>(others.size()),
                    [&](std::uint32_t, std::uint32_t, const CandidatePairs& found) {
                      const Reservation pairs_paid = pay(found.pairs, context_);
                      const std::vector<AppearancePair> pairs = in_neighbourhoods(pairs_of(index, found.pairs));
                      const std::vector<CatalogLink> links = links_of(pairs, verifier_.judgements(pairs));
                      join_.links.insert(join_.links.end(), links.begin(), links.end());
                    });
  }

  // Compares the pairs of a batch, and writes the batch and its links to the catalog.
  void join_part(std::uint32_t begin, std::uint32_t end, const std::vector<RowPair>& rows) {
    const Reservation paid = pay(rows, context_);
    const std::vector<AppearancePair> pairs = pairs_of(index_, rows);
    const std::vector<CatalogLink> links = links_of(pairs, verifier_.compare(pairs));
    if (keeps_) {
      std::vector<std::uint8_t> part;
      for (std::uint32_t row = begin; row < end; ++row)
        append_packed(part, {index_.appearance(row), index_.codes(row)});
      keeps_ = catalog_.put_joined(number_, parts_, part, links);
      ++parts_;
    }
    join_.links.insert(join_.links.end(), links.begin(), links.end());
  }

  // Drops links to appearances that this library lacks, and links between appearances that are not compared in it.
  std::vector<CatalogLink> links_here() {
    const auto place = [&](std::uint64_t appearance) {
      return static_cast<std::size_t>(std::lower_bound(appearances_.begin(), appearances_.end(), appearance) -
                                      appearances_.begin());
    };
    const auto here = [&](const CatalogLink& link) {
      const std::size_t a = place(link.a), b = place(link.b);
      if (a == appearances_.size() || b == appearances_.size() || appearances_[a] != link.a ||
          appearances_[b] != link.b)
        return false;
      return crowds_.empty() || Crowds::compared(link.a, crowds_.levels_of(link.a), codes_of_(a), link.b,
                                                 crowds_.levels_of(link.b), codes_of_(b));
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
  const CodesOf& codes_of_;
  const Rule& rule_;
  const std::uint64_t number_;
  Catalog& catalog_;
  PairVerifier& verifier_;
  RunContext& context_;
  CandidateIndex index_;
  Crowds crowds_;
  CatalogJoin join_;
  std::size_t parts_;  // number of batches in the catalog
  bool keeps_ = true;  // false after another run wrote a batch first
};

}  // namespace

WholesToCompare::WholesToCompare(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule,
                                 PairVerifier& verifier, RunContext& context)
    : appearances_(appearances),
      codes_of_(codes_of),
      rule_(rule),
      verifier_(verifier),
      context_(context),
      crowds_(crowds_of(appearances, codes_of, rule, context)) {
  for (std::uint32_t i = 0; i < appearances_.size(); ++i) {
    if (crowds_.holds(appearances_[i])) continue;
    order_.push_back(i);
    outside_.push_back(appearances_[i]);
  }
  for (std::uint32_t i = 0; i < appearances_.size(); ++i) {
    if (crowds_.holds(appearances_[i])) order_.push_back(i);
  }
}

void WholesToCompare::add_rows(CandidateIndex& index, std::size_t end) const {
  index.reserve(end);
  for (std::size_t row = 0; row < end; ++row) index.add(appearances_[order_[row]], codes_of_(order_[row]));
}

ComparedPart WholesToCompare::compare(std::size_t begin, std::size_t end) {
  ComparedPart out;
  out.rule = rule_number(rule_);
  const Reservation paid =
      context_.budget.reserve({end * (sizeof(PackedCodes) + sizeof(Crowds::Levels))}, "hashes of all pictures");
  const std::size_t last_outside = std::min(end, outside_.size());
  if (begin < last_outside) {
    CandidateIndex index(rule_, context_);
    add_rows(index, last_outside);
    index.each_part(static_cast<std::uint32_t>(begin), [&](auto, auto, const CandidatePairs& found) {
      const Reservation pairs_paid = pay(found.pairs, context_);
      const std::vector<AppearancePair> pairs = pairs_of(index, found.pairs);
      const std::vector<CatalogLink> links = links_of(pairs, verifier_.compare(pairs));
      out.links.insert(out.links.end(), links.begin(), links.end());
    });
    for (auto row = static_cast<std::uint32_t>(begin); row < last_outside; ++row)
      append_packed(out.joined, {index.appearance(row), index.codes(row)});
  }
  const std::size_t first_crowded = std::max(begin, outside_.size());
  if (first_crowded < end) {
    CandidateIndex index(rule_, context_, &crowds_);
    add_rows(index, end);
    index.each_part(static_cast<std::uint32_t>(first_crowded), [&](auto, auto, const CandidatePairs& found) {
      const Reservation pairs_paid = pay(found.pairs, context_);
      const std::vector<AppearancePair> pairs = in_neighbourhoods(pairs_of(index, found.pairs));
      const std::vector<Judgement> judged = verifier_.judgements(pairs);
      for (std::size_t i = 0; i < pairs.size(); ++i) out.scores.push_back(score_of(pairs[i], judged[i]));
    });
  }
  return out;
}

FoundLinks find_links(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule,
                      Catalog& catalog, PairVerifier& verifier, RunContext& context) {
  return Linking(appearances, codes_of, rule, catalog, verifier, context).run();
}

}  // namespace millrace::dedupe
