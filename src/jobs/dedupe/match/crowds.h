// Input: the appearances of a library, with their hashes, and a rule.
// Output: which pairs of them are compared where so many are near one another that all would be too many: blank scans,
//   the frames of a film, twenty thousand pictures of one wall.
// Never: lets anything but the library decide: not the order of files, what a catalogue knows, or memory.
//
// An appearance that hundreds of others are near stands in a crowd. It is compared with some of them: each appearance
// has a level, the number of zeros at the end of its hash, so that half of all have level 1 or more, a quarter level 2
// or more. A member of a crowd is compared with those of the lowest level of which no more than kCompared are as near.
// What is as near is asked at nine distances, each twice the one before: of what is nearest there are few, and with all
// of them it is compared; of what is farther a sample. So every appearance is compared with few, whom many others are
// compared with too, and two that differ in a bit or two meet in the densest crowd.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/jobs/dedupe/match/rule_search.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

class Crowds {
 public:
  // By the distance, the level that another must have; all zero outside of crowds.
  static constexpr std::size_t kDistances = 9;
  using Levels = std::array<std::uint8_t, kDistances>;
  struct Member {
    std::uint64_t appearance = 0;
    Levels levels{};
  };

  Crowds() = default;
  // Sorted by appearance.
  explicit Crowds(std::vector<Member> members) : members_(std::move(members)) {}

  bool empty() const { return members_.empty(); }
  std::span<const Member> members() const { return members_; }
  bool holds(std::uint64_t appearance) const;
  static int level_of(std::uint64_t appearance);
  // All zero for those who are in none.
  Levels levels_of(std::uint64_t appearance) const;
  // Whether two appearances that the rule brings together are compared.
  static bool compared(std::uint64_t a, const Levels& of_a, const ThumbnailCodes& codes_a, std::uint64_t b,
                       const Levels& of_b, const ThumbnailCodes& codes_b);

 private:
  std::vector<Member> members_;
};

// A crowd: so many of a sixty-fourth of all appearances differ from one in less than 16 bits of the four hashes, and in
// at most 6 of its dhash; or so many of a 1,024th are brought together with it by the rule. A few hundred others that
// share a horizon are none.
inline constexpr int kCloseSample = 6, kNearSample = 10;
inline constexpr std::uint32_t kManyClose = 7, kManyNear = 7;
// Of the others at a distance.
inline constexpr std::uint32_t kCompared = 16;

// The crowds of a library. `appearances` sorted, each once, with their codes as they are: where pictures are also
// compared turned, those that are near upright decide.
Crowds find_crowds(std::span<const std::uint64_t> appearances, const CodeColumns& codes, const Rule& rule,
                   RunContext& context);

}  // namespace millrace::dedupe
