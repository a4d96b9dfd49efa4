// Input: the appearances of a library, with their codes, and a candidate rule.
// Output: which pairs are compared in dense groups, where comparing all pairs would be too much work. Examples are
// blank scans, the frames of a video, and twenty thousand photos of one poster.
// Never: depends on anything but the library: not on the order of files, the contents of a catalog, or memory.
//
// An appearance is in a dense group when hundreds of others are near it. Such a member is compared with only some of
// them. Each appearance has a level, the number of trailing zeros of its hash: half of all have level 1 or more, a
// quarter level 2 or more. A member is compared with the near appearances of a minimum level. That is the lowest level
// which no more than kMaxComparedPerDistance of the near appearances reach. There is one minimum level for each of nine
// distances, each twice the one before. Few appearances are very near, and the member is compared with all of them; of
// those farther away it is compared with a sample. So each appearance is compared with few others, which many members
// share. Two that differ in a bit or two are compared even in the densest group.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/jobs/dedupe/match/rule_search.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

class DenseGroups {
 public:
  // Minimum level of the other appearance, by distance; all zero outside dense groups.
  static constexpr std::size_t kDistances = 9;
  using Levels = std::array<std::uint8_t, kDistances>;
  struct Member {
    std::uint64_t thumbnail_digest = 0;
    Levels levels{};
  };

  DenseGroups() = default;
  // Sorts the members by appearance.
  explicit DenseGroups(std::vector<Member> members);

  bool empty() const { return members_.empty(); }
  std::span<const Member> members() const { return members_; }
  bool holds(std::uint64_t thumbnail_digest) const;
  static int level_of(std::uint64_t thumbnail_digest);
  // Returns all zeros for an appearance that is in no dense group.
  Levels levels_of(std::uint64_t thumbnail_digest) const;
  // True if two appearances that satisfy the rule are compared. Symmetric in a and b.
  static bool are_compared(std::uint64_t a, const Levels& of_a, const ThumbnailCodes& codes_a, std::uint64_t b,
                           const Levels& of_b, const ThumbnailCodes& codes_b);

 private:
  std::vector<Member> members_;
};

// A member of a dense group has at least kMinCloseNeighbors close neighbours in a sample of 1/64 of all appearances
// (level kCloseSampleLevel or more). Close neighbours differ in less than 16 bits of the four hashes, and in at most 6
// bits of dhash. Or the member has at least kMinNearNeighbors candidates by the rule in a sample of 1/1,024 (level
// kNearSampleLevel or more). A few hundred pictures that share a horizon are not a dense group.
// docs/design/dense-groups.md gives the reasons for the constants of this file.
inline constexpr int kCloseSampleLevel = 6, kNearSampleLevel = 10;
inline constexpr std::uint32_t kMinCloseNeighbors = 7, kMinNearNeighbors = 7;
// Largest number of other appearances that a member is compared with at one distance.
inline constexpr std::uint32_t kMaxComparedPerDistance = 16;

// Finds the dense groups of a library. `appearances` are in any order, without repeats; `codes` are those of the
// upright images. Where images are also compared rotated or mirrored, only upright neighbours count.
DenseGroups find_dense_groups(std::span<const std::uint64_t> appearances, const CodeColumns& codes,
                              const MatchRule& rule, RunContext& context);

}  // namespace millrace::dedupe
