// Input: candidate sets of pictures that match at 64 x 64 pixels.
// Output: sets in which all but one picture are removable, each checked in detail against the kept one; and pictures
// that are only shown beside them.
// Never: suggests removing a picture that was not checked, one that shows more than the kept one, or one of another
// shot.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/jobs/dedupe/suggest/keeper_relations.h"

namespace millrace::dedupe {

// Pictures of one candidate set, in the order of the keep rule: the best first.
using CandidateSet = std::vector<std::uint32_t>;

struct DuplicateSet {
  struct Kept {
    std::uint32_t picture;
    const char* why;  // "shows more than": words before the name of the kept picture
  };
  std::vector<std::uint32_t> pictures;           // the kept one first
  std::vector<Kept> also_kept;                   // further kept pictures of the set
  KeepReason keep_reason = KeepReason::by_rule;  // why the first one is the keeper
  bool same_pixels = false;                      // true if all pictures have the same pixels
};

// A picture that was checked against the keeper of a set and differs from it, or that was not checked.
struct RelatedPicture {
  std::uint32_t keeper, picture;
  GroupKind kind;
};

struct RemovalSuggestions {
  std::vector<DuplicateSet> sets;
  std::vector<RelatedPicture> related_pictures;
  // Number of pictures that were not checked against all that may be the same, or that could not be decoded.
  std::uint64_t unchecked_pictures = 0;
};

// Limits that keep the number of checks linear in the members. A thousand invoices on one form are a thousand pictures,
// and must not take half a million checks. After three keepers, each remaining picture is checked against the eight
// most similar at 64 pixels, and four more of another size. Each set that this forms gets further keepers, up to eight
// in all. docs/design/dense-groups.md gives the reasons for the constants of this file.
inline constexpr int kFirstKeepers = 3, kMaxKeepers = 8;
inline constexpr std::size_t kNearest = 8, kNearestOfOtherSize = 4;

// Similarity of the pictures of each pair at 64 x 64 pixels; higher is more similar. The lower index comes first.
using PicturePairs = std::span<const PicturePair>;
struct Similarity64 {
  std::function<std::vector<float>(PicturePairs)> scores;
  // Number of bits in which the hashes of two pictures differ. Among more than kMaxAllPairs pictures, only the
  // kNearestByHash with the smallest difference are compared for similarity.
  std::function<int(std::uint32_t, std::uint32_t)> bits;
};
inline constexpr std::size_t kMaxAllPairs = 1000, kNearestByHash = 32;

// Two pictures that match but share no candidate set. Within a candidate set every pair matches, and a version of a
// version does not always match the first. The kept picture of each set is checked against those of the two most
// similar sets. Sets whose pictures are the same become one set. The number of checks stays linear.
inline constexpr std::size_t kNearestSets = 2;
struct CrossSetPair {
  std::uint32_t a, b;
  float score;  // higher is more similar
};

// Preferences of the keep rule, and decisions of a person.
struct KeepPreferences {
  PreferredBy preferred_by;
  std::function<CandidateSet(std::vector<std::uint32_t>)> sort_pictures;
  // False if a person confirmed two of the pictures as distinct, or if they are shots of one burst.
  std::function<bool(const std::vector<std::uint32_t>&, const std::vector<std::uint32_t>&)> can_be_grouped;
};

RemovalSuggestions suggest_removals(const std::vector<CandidateSet>& candidates,
                                    const std::vector<CrossSetPair>& across, const Library& library,
                                    const Origins& origins, const Similarity64& similarity,
                                    const KeepPreferences& preferences, PairComparator& comparator);

}  // namespace millrace::dedupe
