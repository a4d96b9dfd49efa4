// Input: results of the detailed check, origins of files, and preferences of the keep rule.
// Output: the relation of a picture to the keeper of its set: removable, a better keeper, or a kind to show.
// Never: decodes a picture, or suggests removing one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "src/jobs/dedupe/group_kind.h"
#include "src/jobs/dedupe/suggest/origins.h"
#include "src/jobs/dedupe/suggest/pair_comparator.h"

namespace millrace::dedupe {

// Reason why a picture is the keeper of its set. by_rule: it is the best by the rule. In the other cases the best by
// the rule differs. whole: that one is a crop of it, without more detail. detail: that one is an enlargement of it.
// unframed: that one has a frame around it. source: that one is a larger file that was made from it.
enum class KeepReason : std::uint8_t { by_rule, whole, detail, unframed, source };

// Returns the criterion by which the rule prefers the first of two pictures; empty if it does not.
using PreferredBy = std::function<std::string(std::uint32_t, std::uint32_t)>;

// New keeper in the place of another.
struct BetterKeeper {
  std::uint32_t picture;
  KeepReason why;
};

// Pictures are given by their indexes in the library. The constructor's arguments must outlive the object.
class KeeperRelations {
 public:
  KeeperRelations(const Library& library, const Origins& origins, const PreferredBy& preferred_by,
                  const PairComparator& comparator)
      : library_(library), origins_(origins), preferred_by_(preferred_by), comparator_(comparator) {}

  // Returns the relation of a picture to the keeper. A picture of another shot is `other`.
  RelationToKeeper find_relation(std::uint32_t keeper, std::uint32_t picture) const;
  // True if they are the same picture as far as the check can tell, or one is a crop of the other.
  bool is_same_picture(std::uint32_t keeper, std::uint32_t picture) const;
  // True for a RAW file and its JPEG, or a HEIC and its JPEG: both are kept.
  bool is_kept_as_same_shot(std::uint32_t keeper, std::uint32_t picture) const;
  // Returns the picture of `left` (in the order of the rule) that should be the keeper instead. Detail counts before
  // preference. A whole comes before its crop. A keeper that the rule prefers only for its pixels is replaced by the
  // picture that it enlarges or frames. That one is replaced by an interchangeable picture that the rule prefers. A
  // keeper preferred only for its bytes is replaced by the JPEG that it was made from. A reference file is never
  // replaced. `keep_reason` is the reason of the current keeper.
  std::optional<BetterKeeper> find_better_keeper(std::uint32_t keeper, KeepReason keep_reason,
                                                 std::span<const std::uint32_t> left) const;
  // Returns the kind under which a pair is shown when neither picture is suggested for removal.
  GroupKind derive_group_kind(std::uint32_t keeper, std::uint32_t picture) const;

 private:
  const Provenance& origin_of(std::uint32_t picture) const {
    return origins_.find_provenance(library_.pictures[picture].files[0]);
  }
  bool are_same_shot(std::uint32_t a, std::uint32_t b) const;
  bool is_reference(std::uint32_t picture) const;
  // True if either picture is removable in favour of the other.
  bool are_interchangeable(std::uint32_t keeper, std::uint32_t picture) const;
  // True if `copy` was made from the JPEG `picture`: it is a lossless file of its pixels, or the JPEG saved again. A
  // JPEG made from a lossless file would have other pixels.
  bool is_source(std::uint32_t picture, std::uint32_t copy, const Comparison& comparison) const;
  // Returns why a picture has more to show than the keeper; by_rule if it has not.
  KeepReason find_keep_reason(std::uint32_t keeper, std::uint32_t picture) const;

  const Library& library_;
  const Origins& origins_;
  const PreferredBy& preferred_by_;
  const PairComparator& comparator_;
};

}  // namespace millrace::dedupe
