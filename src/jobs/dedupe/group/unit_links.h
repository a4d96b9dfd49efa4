// Input: the units of a library.
// Output: the links between them, by their pixels or by the rule alone, and a similarity score for any two.
// Never: forms groups.
#pragma once

#include <optional>

#include "src/jobs/dedupe/group/linkage.h"
#include "src/jobs/dedupe/group/units.h"
#include "src/jobs/dedupe/match/links.h"

namespace millrace::dedupe {

class UnitLinks {
 public:
  // The arguments are kept by reference; `units` must be filled when find() is called.
  UnitLinks(const Options& options, const Rule& rule, const Library& library, const std::vector<Unit>& units,
            const NotDuplicates& not_duplicates, Catalog& catalog, PairVerifier& verifier, RunContext& context)
      : options_(options),
        rule_(rule),
        library_(library),
        units_(units),
        not_duplicates_(not_duplicates),
        catalog_(catalog),
        verifier_(verifier),
        context_(context) {}

  void find();
  const std::vector<Link>& links() const { return links_; }  // between units that may be in one group
  const std::vector<Link>& partial() const {
    return partial_;
  }  // between units of which some parts may be in one group
  const std::vector<Link>& recoloured() const { return recoloured_; }

  // Rank for tight_groups().
  int rank(std::uint32_t unit) const {
    return crowds_.holds(data(unit).appearance) ? Crowds::level_of(data(unit).appearance) : -1;
  }
  // Returns similarity scores; higher is more similar, below zero is no match.
  std::vector<float> scores(std::span<const ItemPair> units);
  // Returns the same scores for units that may be in one group, below zero for others. With `if_compared`, pairs in a
  // dense group that were not compared are not scored. They do not prevent a group.
  enum class Crowded : std::uint8_t { all, if_compared };
  std::vector<float> scores_in_one_group(std::span<const ItemPair> units, Crowded crowded);

 private:
  const CatalogPicture& data(std::uint32_t unit) const { return library_.pictures[units_[unit].pictures[0]].data; }
  std::size_t keys() const { return first_of_.size() - 1; }
  void link(std::uint32_t a, std::uint32_t b, float score);
  void link_within(std::uint32_t key);
  void link_within(std::uint32_t first, std::uint32_t end);  // units of one key and album
  void link_between(std::uint32_t x, std::uint32_t y, float score);
  std::vector<CatalogLink> with_parts(std::vector<CatalogLink> links, std::span<const std::uint64_t> appearances);
  void verify();
  void apply_rule();
  float rule_score(std::uint32_t x, std::uint32_t y) const;
  bool passed_over(std::uint32_t a, std::uint32_t b) const;

  const Options& options_;
  const Rule& rule_;
  const Library& library_;
  const std::vector<Unit>& units_;
  const NotDuplicates& not_duplicates_;
  Catalog& catalog_;
  PairVerifier& verifier_;
  RunContext& context_;
  std::vector<std::uint32_t> first_of_;  // first unit of each key; the last element is the number of units
  std::vector<Link> links_, partial_, recoloured_;
  Crowds crowds_;
  std::optional<CandidateIndex> index_;  // used where the rule itself decides
  std::vector<std::uint32_t> row_of_;    // row of each key in the index, or kNone
};

}  // namespace millrace::dedupe
