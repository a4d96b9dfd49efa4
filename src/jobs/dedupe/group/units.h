// Input: a library.
// Output: the units that are grouped: pictures that nothing compared tells apart are one, so twenty thousand blank
//   pictures are compared once, unless they must not stand in one group: different shots of a burst, and pictures that
//   a person told apart.
// Never: looks at pixels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

struct Burst {
  std::vector<std::uint32_t> pictures;  // by time, then content
  std::vector<int> shots;               // of each picture
};

// Same camera, at least three different shots, each at most one second after the one before. Pictures are different
// shots when their capture times differ (sub-seconds where both have them) or, at equal times, when `same` says no.
std::vector<Burst> find_bursts(const Library& library, const std::function<bool(std::uint32_t, std::uint32_t)>& same);

// Those that a person told from a picture, both ways.
using NotDuplicates = std::map<std::uint32_t, std::set<std::uint32_t>>;

// Pictures of a unit about which the same is known: of one shot, or of no burst.
struct Part {
  std::vector<std::uint32_t> pictures;  // one, where it was told apart from others
  std::uint32_t burst = kNone;          // index into the bursts
  int shot = 0;                         // which shot of it
};

struct Unit {
  std::vector<std::uint32_t> pictures;  // in content order; the first one speaks for all
  std::vector<Part> parts;              // by burst; none where no part of it can be kept apart from anything
  std::uint64_t appearance = 0;         // of the first one
  std::uint32_t key = 0;                // which appearance (or set of hashes) in their order
  std::uint32_t files = 0;              // of all of them
  std::uint32_t album = 0;              // of all of them, where pictures are split by it
};

bool is_shot_of_burst(const Unit& unit);

// What tells pictures apart: their appearances where pixels are compared, their hashes where those decide and say
// enough.
enum class GroupingKey { appearances, hashes };

// In the order of their appearances (hashes). Pictures of one appearance (or set of hashes) are one unit, as far as
// they may stand in one group: each part goes to the first unit that takes it, so that every unit is kept apart from
// those before it. Pictures that stand for no file are left out.
std::vector<Unit> make_units(const Library& library, const std::vector<Burst>& bursts, bool bursts_apart,
                             GroupingKey key, const NotDuplicates& not_duplicates);

// Whether two units may stand in one group: not where they hold different shots of a burst, or pictures told apart, or
// are of different albums.
bool may_join(const Unit& a, const Unit& b, const NotDuplicates& not_duplicates);
// The first part of each that may, or nothing. Of a unit without parts it is the whole.
struct PartPair {
  const std::vector<std::uint32_t>*a, *b;  // pictures
};
std::optional<PartPair> first_that_may_join(const Unit& a, const Unit& b, const NotDuplicates& not_duplicates);

}  // namespace millrace::dedupe
