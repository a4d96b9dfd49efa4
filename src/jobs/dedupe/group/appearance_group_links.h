// Input: the appearance groups of a library.
// Output: the links between them, by their pixels or by the rule alone, and a similarity score for any two.
// Never: forms groups.
#pragma once

#include <optional>

#include "src/jobs/dedupe/group/appearance_groups.h"
#include "src/jobs/dedupe/group/linkage.h"
#include "src/jobs/dedupe/match/appearance_links.h"

namespace millrace::dedupe {

class AppearanceGroupLinks {
 public:
  // The arguments are kept by reference; `appearance_groups` must be filled when find() is called.
  AppearanceGroupLinks(const DedupeOptions& options, const MatchRule& rule, const Library& library,
                       const std::vector<AppearanceGroup>& appearance_groups,
                       const ConfirmedDistinct& confirmed_distinct, Catalog& catalog,
                       ThumbnailComparator& thumbnail_comparator, RunContext& context)
      : options_(options),
        rule_(rule),
        library_(library),
        appearance_groups_(appearance_groups),
        confirmed_distinct_(confirmed_distinct),
        catalog_(catalog),
        thumbnail_comparator_(thumbnail_comparator),
        context_(context) {}

  void find();
  // Links between appearance groups that may be in one group.
  const std::vector<ItemLink>& links() const { return links_; }
  // Links between appearance groups of which only some parts may be in one group.
  const std::vector<ItemLink>& partial_links() const { return partial_; }
  const std::vector<ItemLink>& recoloured() const { return recoloured_; }

  // Rank for find_tight_groups().
  int rank(std::uint32_t appearance_group) const {
    return dense_groups_.holds(data(appearance_group).thumbnail_digest)
               ? DenseGroups::level_of(data(appearance_group).thumbnail_digest)
               : -1;
  }
  // Returns similarity scores; higher is more similar, below zero is no match.
  std::vector<float> score_pairs(std::span<const ItemPair> appearance_groups);
  // Returns the same scores for appearance groups that may be in one group, below zero for others. With `if_compared`,
  // pairs in a dense group that were not compared are not scored. They do not prevent a group.
  enum class DensePairs : std::uint8_t { all, if_compared };
  std::vector<float> score_joinable_pairs(std::span<const ItemPair> appearance_groups, DensePairs dense_pairs);

 private:
  const CatalogPicture& data(std::uint32_t appearance_group) const {
    return library_.pictures[appearance_groups_[appearance_group].pictures[0]].data;
  }
  std::size_t keys() const { return first_of_.size() - 1; }
  void link(std::uint32_t a, std::uint32_t b, float score);
  void link_within(std::uint32_t key);
  void link_within(std::uint32_t first, std::uint32_t end);  // appearance groups of one key and album
  void link_between(std::uint32_t x, std::uint32_t y, float score);
  std::vector<CatalogLink> add_crop_links(std::vector<CatalogLink> links, std::span<const std::uint64_t> appearances);
  void verify();
  void apply_rule();
  float rule_score(std::uint32_t x, std::uint32_t y) const;
  bool is_skipped_pair(std::uint32_t a, std::uint32_t b) const;

  const DedupeOptions& options_;
  const MatchRule& rule_;
  const Library& library_;
  const std::vector<AppearanceGroup>& appearance_groups_;
  const ConfirmedDistinct& confirmed_distinct_;
  Catalog& catalog_;
  ThumbnailComparator& thumbnail_comparator_;
  RunContext& context_;
  std::vector<std::uint32_t> first_of_;  // first appearance group of each key; the last element is their number
  std::vector<ItemLink> links_, partial_, recoloured_;
  DenseGroups dense_groups_;
  std::optional<CandidateIndex> index_;  // used where the rule itself decides
  std::vector<std::uint32_t> row_of_;    // row of each key in the index, or kNone
};

}  // namespace millrace::dedupe
