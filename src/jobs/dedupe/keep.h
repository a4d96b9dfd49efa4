// Enters: the files of one group.
// Leaves: which of them stay, and why, in words.
// Never: suggests removing a reference file, the last whole copy, or a RAW that has no copy.
#pragma once

#include "src/jobs/dedupe/library.h"

namespace millrace::dedupe {

struct Member {
  std::uint32_t file = 0;
  bool keep = false;
  std::string why;
};

// Members in the order of the keep rule, the one to keep first. `criteria` in the order in which they are asked:
//   reference  in a --reference folder       whole     not damaged        raw     its asset has a RAW file
//   pixels     more of them                  bytes     more of them       exif    more EXIF fields
//   oldest     earlier capture, else change  shortest  shorter path
// The path's bytes decide what is left.
std::vector<Member> rank_members(const Library& library, const std::vector<std::uint32_t>& files,
                                 const std::vector<std::string>& criteria);

}  // namespace millrace::dedupe
