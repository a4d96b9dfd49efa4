// Input: a library.
// Output: its appearance groups. Pictures that every comparison finds equal are one appearance group, so twenty
// thousand blank pictures are compared once. The exception are pictures that must not be in one group: different shots
// of a burst, and pictures that a person confirmed as distinct.
// Never: reads pixels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

struct Burst {
  std::vector<std::uint32_t> pictures;  // sorted by time, then content
  std::vector<int> shots;               // of each picture
};

// Finds bursts: at least three different shots of one camera, each at most one second after the one before. Pictures
// are different shots when their capture times differ (sub-seconds where both have them). At equal times they are
// different shots when `same` returns false.
std::vector<Burst> find_bursts(const Library& library, const std::function<bool(std::uint32_t, std::uint32_t)>& same);

// Pictures that a person confirmed as distinct from a picture; each pair is stored in both directions.
using ConfirmedDistinct = std::map<std::uint32_t, std::set<std::uint32_t>>;

// Pictures of an appearance group with the same constraints: all of one shot, or all of no burst.
struct AppearanceGroupPart {
  std::vector<std::uint32_t> pictures;  // only one, if it was confirmed as distinct from others
  std::uint32_t burst = kNone;          // index into the bursts
  int shot = 0;                         // number of the shot in the burst
};

struct AppearanceGroup {
  std::vector<std::uint32_t> pictures;     // in content order; the first one represents all
  std::vector<AppearanceGroupPart> parts;  // by burst; empty if no part has constraints
  std::uint64_t thumbnail_digest = 0;      // of the first picture
  std::uint32_t key = 0;                   // rank of its appearance (or set of hashes)
  std::uint32_t files = 0;                 // of all pictures
  std::uint32_t album = 0;                 // of all pictures, where pictures are split by it
};

bool is_shot_of_burst(const AppearanceGroup& appearance_group);

// Property by which pictures are distinguished: the appearance if pixels are compared; the hashes if the rule decides,
// where they hold enough information.
enum class GroupingKey { appearances, hashes };

// Returns the appearance groups in the order of their appearances (or hashes). Pictures of one appearance (or set of
// hashes) share an appearance group if they may be in one group. Each part joins the first appearance group that admits
// it, so every one must be kept apart from those before it. Pictures without files are left out.
std::vector<AppearanceGroup> make_appearance_groups(const Library& library, const std::vector<Burst>& bursts,
                                                    bool bursts_apart, GroupingKey key,
                                                    const ConfirmedDistinct& confirmed_distinct);

// True if two appearance groups may be in one group. False if they hold different shots of a burst or pictures
// confirmed as distinct, or are of different albums.
bool can_join(const AppearanceGroup& a, const AppearanceGroup& b, const ConfirmedDistinct& confirmed_distinct);
// Returns the first parts of both that may be in one group, or nullopt. An appearance group without parts counts as one
// part.
struct AppearanceGroupPartPair {
  const std::vector<std::uint32_t>*a, *b;  // pictures
};
std::optional<AppearanceGroupPartPair> find_joinable_parts(const AppearanceGroup& a, const AppearanceGroup& b,
                                                           const ConfirmedDistinct& confirmed_distinct);

}  // namespace millrace::dedupe
