#include "src/jobs/dedupe/match/rule_search.h"

#include <algorithm>
#include <bit>

namespace millrace::dedupe {
namespace {

constexpr std::array<HashView, 3> kHashViews = {HashView{false, false}, HashView{false, true}, HashView{true, false}};

std::size_t slot_in(bool middle, HashKind kind) { return middle ? middle_slot_of(kind) : slot_of(kind); }

bool satisfies_terms(const std::vector<RuleTerm>& terms, HashView hash_view, const ThumbnailCodes& a,
                     const ThumbnailCodes& b) {
  return std::all_of(terms.begin(), terms.end(), [&](const RuleTerm& term) {
    return std::popcount(a[slot_in(hash_view.query_middle, term.kind)] ^
                         b[slot_in(hash_view.base_middle, term.kind)]) <= term.radius;
  });
}

}  // namespace

void CodeColumns::add(const ThumbnailCodes& codes) {
  for (std::size_t c = 0; c < codes.size(); ++c) columns_[c].push_back(codes[c]);
}

void CodeColumns::reserve(std::size_t more) {
  for (auto& column : columns_) column.reserve(column.size() + more);
}

ThumbnailCodes CodeColumns::at(std::size_t row) const {
  ThumbnailCodes out;
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = columns_[c][row];
  return out;
}

const std::vector<std::uint64_t>& CodeColumns::get_column(bool middle, HashKind kind) const {
  return columns_[slot_in(middle, kind)];
}

std::span<const HashView> views_of_rule(const MatchRule& rule) {
  return {kHashViews.data(), rule.middle ? kHashViews.size() : 1};
}

bool holds(const MatchRule& rule, const ThumbnailCodes& a, const ThumbnailCodes& b) {
  const auto hash_view = views_of_rule(rule);
  return std::any_of(hash_view.begin(), hash_view.end(), [&](HashView s) {
    return std::any_of(rule.alternatives.begin(), rule.alternatives.end(),
                       [&](const auto& terms) { return satisfies_terms(terms, s, a, b); });
  });
}

std::array<int, 4> distances(const ThumbnailCodes& a, const ThumbnailCodes& b) {
  std::array<int, 4> out{};
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::popcount(a[c] ^ b[c]);
  return out;
}

hamming::CodeSearchResult search(const std::vector<RuleTerm>& terms, const SearchRows& rows, HashView hash_view,
                                 const Engines& engines, Budget& budget, const hamming::PairFilter& also) {
  struct Test {
    const std::uint64_t *query, *base;
    int radius;
  };
  std::vector<Test> tests;
  tests.reserve(terms.size());
  for (const RuleTerm& term : terms)
    tests.push_back({rows.queries->get_column(hash_view.query_middle, term.kind).data() + rows.begin,
                     rows.base->get_column(hash_view.base_middle, term.kind).data(), term.radius});
  const auto all_terms = [&](std::uint32_t i, std::uint32_t j) {
    for (std::size_t t = 1; t < tests.size(); ++t) {
      if (std::popcount(tests[t].query[i] ^ tests[t].base[j]) > tests[t].radius) return false;
    }
    return also(i, j);
  };
  return hamming::search({tests[0].query, rows.end - rows.begin}, {tests[0].base, rows.base_end}, {tests[0].radius},
                         engines, budget, all_terms);
}

void for_each_pair(const MatchRule& rule, const SearchRows& rows, const Engines& engines, Budget& budget,
                   const std::function<void(std::uint32_t, std::uint32_t)>& visit) {
  for (const HashView& hash_view : views_of_rule(rule)) {
    for (const auto& terms : rule.alternatives) {
      const auto found_before = [&](const ThumbnailCodes& a, const ThumbnailCodes& b) {
        for (const HashView& s : views_of_rule(rule)) {
          for (const auto& previous : rule.alternatives) {
            if (&s == &hash_view && &previous == &terms) return false;
            if (satisfies_terms(previous, s, a, b)) return true;
          }
        }
        return false;
      };
      search(terms, rows, hash_view, engines, budget, [&](std::uint32_t i, std::uint32_t j) {
        if (!found_before(rows.queries->at(rows.begin + i), rows.base->at(j))) visit(i, j);
        return false;
      });
    }
  }
}

}  // namespace millrace::dedupe
