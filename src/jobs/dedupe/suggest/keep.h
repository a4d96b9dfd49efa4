// Input: the files of one group.
// Output: which of them stay, and why, in words.
// Never: suggests removing a reference file, the last whole copy, or a RAW that has no copy.
#pragma once

#include <array>
#include <functional>

#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {

struct Member {
  std::uint32_t file = 0;
  bool keep = false;
  std::string why;
  // Of the one to keep: in what one that goes is better. Of one that was altered: that it and the first were one file
  // once.
  std::string warning{};
  // Of an altered picture: what differs from the group's other one, in shares of its sides: left, top, right, bottom.
  std::array<float, 4> place{};
  int given = 0;                     // origins.h
  std::vector<HoldingKind> holds{};  // besides the picture that was compared
  bool as_good = false;              // the first one may go for it as well
};

// Files in the order of the keep rule, the one to keep first. `criteria` in the order in which they are asked:
//   reference  in a --reference folder       whole     not damaged        raw     its asset has a RAW file
//   held       holds film, sound or more pictures than the one that is compared
//   preferred  matches an earlier pattern of --prefer
//   original   nearer to what a camera wrote pixels    more of them
//   given      more of what people gave: stars, keywords, names, places, a sidecar
//   bytes      more of them                  exif      more EXIF fields
//   oldest     earlier capture, else change  shortest  shorter path
// The path's bytes decide what is left.
std::vector<std::uint32_t> in_keep_order(const Library& library, const Origins& origins,
                                         std::vector<std::uint32_t> files, const std::vector<std::string>& criteria);
// By which criterion the rule prefers one of two files; empty: by their paths. Below zero: the first one.
std::pair<int, std::string> preference(const Library& library, const Origins& origins, std::uint32_t a, std::uint32_t b,
                                       const std::vector<std::string>& criteria);

// A picture whose files come before all others, whatever the rule says, and the words that tell why.
struct Leader {
  std::uint32_t picture = kNone;
  const char* why = "";  // of its first file
  // Of a picture that the rule prefers, before the leader's name.
  std::function<const char*(std::uint32_t picture)> why_not;
};
// Names what a file holds besides its picture and another lacks: "its film". Empty where it lacks nothing.
std::string held_alone(const Library& library, const Origins& origins, std::uint32_t file, std::uint32_t other);

// The files as members in that order: the first stays, and what would be lost with another. Reads recordings.
std::vector<Member> rank_members(const Library& library, const Origins& origins,
                                 const std::vector<std::uint32_t>& files, const std::vector<std::string>& criteria,
                                 const Leader& leader = {});

// One file of a picture stays beside the first; `why` comes before that one's name.
void keep_picture(const Library& library, std::uint32_t picture, const char* why, std::vector<Member>& members);
// Fills the warning of the first: of pixels, of what people gave and of EXIF, the first file that goes and has more.
void warn_of_losses(const Library& library, const Origins& origins, const Leader& leader, std::vector<Member>& members);
// The first file of each picture stays.
void keep_one_of_each(const Library& library, std::vector<Member>& members);

}  // namespace millrace::dedupe
