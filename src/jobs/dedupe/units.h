// Enters: a library.
// Leaves: the units that are grouped: pictures that nothing compared tells apart are one, so twenty thousand blank
//   pictures are compared once; and the bursts, whose different shots are units of their own.
// Never: looks at pixels.
#pragma once

#include <functional>
#include <set>

#include "src/jobs/dedupe/library.h"

namespace millrace::dedupe {

struct Unit {
  std::vector<std::uint32_t> pictures;  // in content order; the first one speaks for all
  std::uint64_t look = 0;               // of the first one
  std::uint32_t files = 0;              // of all of them
  std::uint32_t burst = kNone;          // index into Bursts
  int shot = 0;                         // which shot of it
};

struct Burst {
  std::vector<std::uint32_t> pictures;  // by time, then content
  std::vector<int> shots;               // of each picture
};

// Same camera, at least three different shots, each at most one second after the one before. Pictures are different
// shots when their capture times differ (sub-seconds where both have them) or, at equal times, when `same` says no.
std::vector<Burst> find_bursts(const Library& library, const std::function<bool(std::uint32_t, std::uint32_t)>& same);

// What tells pictures apart: their looks where pixels are compared, their hashes where those decide.
enum class Likeness { looks, hashes };

// One unit a look (or set of hashes), burst and shot, in the order of their looks (hashes); pictures that stand for no
// file are left out, and those in `by_themselves` are each a unit.
std::vector<Unit> make_units(const Library& library, const std::vector<Burst>& bursts, bool bursts_apart,
                             Likeness likeness, const std::set<std::uint32_t>& by_themselves);

}  // namespace millrace::dedupe
