// Input: pictures that look alike at 64 x 64 pixels, candidate by candidate.
// Output: sets of which all but one may go, each member looked at closely against the one that stays; and beside them
//   what is only shown.
// Never: suggests what was not looked at, a picture that shows more than the one that stays, or another press of the
//   shutter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/jobs/dedupe/suggest/standings.h"

namespace millrace::dedupe {

// Pictures of one candidate, in the order of the keep rule: the best first.
using Candidate = std::vector<std::uint32_t>;

struct SameSet {
  struct Kept {
    std::uint32_t picture;
    const char* why;  // "shows more than": words before the name of the one that stays
  };
  std::vector<std::uint32_t> pictures;  // the one that stays first
  std::vector<Kept> also_kept;          // of `pictures`
  Lead lead = Lead::by_rule;            // why the first is
  bool same_pixels = false;             // all of them
};

// Looked at against the leader of a set and found another picture, or not looked at.
struct Beside {
  std::uint32_t leader, picture;
  GroupKind kind;
};

struct Suggested {
  std::vector<SameSet> sets;
  std::vector<Beside> beside;
  // Pictures that were not looked at against all that may be the same, or could not be decoded.
  std::uint64_t not_looked = 0;
};

// Looks stay linear in the members: a thousand invoices on one form are a thousand pictures, and not half a million
// looks. After three leaders, each of what is left is looked at against the eight that are most like it at 64 pixels
// (and four more of another size), and what this brings together is led by up to eight more.
inline constexpr int kFirstLeaders = 3, kMostLeaders = 8;
inline constexpr std::size_t kNearest = 8, kNearestOfOtherSize = 4;

// How much the pictures of each pair are alike at 64 x 64 pixels: more is more. The lower index first.
using PicturePairs = std::span<const PicturePair>;
struct Similarity64 {
  std::function<std::vector<float>(PicturePairs)> of;
  // Bits in which two pictures' hashes differ: of more than kEveryTwo, who is most like one is chosen from the
  // kFewestBits that differ least from it.
  std::function<int(std::uint32_t, std::uint32_t)> bits;
};
inline constexpr std::size_t kEveryTwo = 1000, kFewestBits = 32;

// Two pictures that are alike and in no candidate together: in one, every two are alike. A version of a version is not
// always like the first. Of each set, the one who stays is looked at against those of the two sets that are most like
// it, and what is the same is one set; looks stay linear.
inline constexpr std::size_t kNearestSets = 2;
struct Across {
  std::uint32_t a, b;
  float score;  // more is more
};

// What of the keep rule and of what a person said is asked for.
struct Preferences {
  PreferredBy preferred_by;
  std::function<Candidate(std::vector<std::uint32_t>)> in_order;
  // Not where two were told apart by a person, or are shots of one burst.
  std::function<bool(const std::vector<std::uint32_t>&, const std::vector<std::uint32_t>&)> may_stand_together;
};

Suggested suggest(const std::vector<Candidate>& candidates, const std::vector<Across>& across, const Library& library,
                  const Origins& origins, const Similarity64& similarity, const Preferences& preferences, Looks& looks);

}  // namespace millrace::dedupe
