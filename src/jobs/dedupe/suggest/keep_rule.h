// Input: the files of one group.
// Output: the files to keep, and the reasons, in words.
// Never: suggests removing a reference file, the last undamaged copy, or a file whose RAW has no copy.
#pragma once

#include <array>
#include <functional>

#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {

struct GroupMember {
  std::uint32_t file = 0;
  bool keep = false;
  std::string why;
  // For the member to keep: what a removable member has more of. For an altered member: a note that it and the first
  // were once the same file.
  std::string warning{};
  // For an altered picture: the region that differs from the group's other picture, in shares of its sides: left, top,
  // right, bottom.
  std::array<float, 4> place{};
  int user_metadata_score = 0;         // score of the data that people added (origins.h)
  std::vector<ExtraDataKind> holds{};  // content besides the picture that was compared
  bool is_interchangeable = false;     // the first member would be removable in favour of this one
};

// Sorts files by the keep rule, the one to keep first. `criteria` are compared in the order given:
//   reference  in a --reference folder       whole     not damaged        raw     its asset has a RAW file
//   held       holds video, sound or more pictures than the one that is compared
//   preferred  matches an earlier pattern of --prefer
//   original   nearer to what a camera wrote pixels    more of them
//   given      more data that people added: stars, keywords, names, places, a sidecar
//   bytes      more of them                  exif      more EXIF fields
//   oldest     earlier capture, else change  shortest  shorter path
// Remaining ties are decided by the bytes of the path.
std::vector<std::uint32_t> sort_by_keep_rule(const Library& library, const Origins& origins,
                                             std::vector<std::uint32_t> files,
                                             const std::vector<std::string>& criteria);
// Returns the order of two files (below zero: the first is preferred) and the deciding criterion (empty: the path
// decided).
std::pair<int, std::string> compare_by_keep_rule(const Library& library, const Origins& origins, std::uint32_t a,
                                                 std::uint32_t b, const std::vector<std::string>& criteria);

// A picture whose files come before all others regardless of the rule, and the reason in words.
struct Keeper {
  std::uint32_t picture = kNone;
  const char* why = "";  // reason for its first file
  // Words for a picture that the rule prefers; the keeper's name follows them.
  std::function<const char*(std::uint32_t picture)> why_not;
};
// Names content that a file holds besides its picture and that the other lacks: "its video". Empty if nothing is
// lacking.
std::string name_uncopied_holding(const Library& library, const Origins& origins, std::uint32_t file,
                                  std::uint32_t other);

// Returns the files as members in that order. Keeps the first, and each file whose removal would lose something. Reads
// recordings.
std::vector<GroupMember> choose_kept_members(const Library& library, const Origins& origins,
                                             const std::vector<std::uint32_t>& files,
                                             const std::vector<std::string>& criteria, const Keeper& keeper = {});

// Keeps one file of a picture beside the first member; `why` precedes the first member's name.
void keep_picture(const Library& library, std::uint32_t picture, const char* why, std::vector<GroupMember>& members);
// Fills the warning of the first member. For pixels, added data and EXIF, it names the first removable file that has
// more.
void warn_of_losses(const Library& library, const Origins& origins, const Keeper& keeper,
                    std::vector<GroupMember>& members);
// Keeps the first file of each picture.
void keep_one_file_per_picture(const Library& library, std::vector<GroupMember>& members);

}  // namespace millrace::dedupe
