// Input: "2/8" or "slurm/8", as a person or a scheduler says it.
// Output: which parts of an output are a run's, where several runs make it; which runs of an array would make what is
//   missing.
// Never: says which run makes a part that two have been told to make.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/base/settings.h"

namespace millrace {

// Parts whose number leaves `index` when divided by `of`.
struct Share {
  std::uint64_t index = 0, of = 0;  // of 0: there is one run, and all are its

  explicit operator bool() const { return of > 0; }
  bool has(std::uint64_t part) const { return of == 0 || part % of == index; }
  // Of so many.
  std::uint64_t count(std::uint64_t parts) const {
    if (of == 0) return parts;
    return parts <= index ? 0 : (parts - index - 1) / of + 1;
  }
};

// "K/N", K from 1 to N; "slurm/N", whose K is SLURM_ARRAY_TASK_ID; or "all". Failure(usage) for anything else: an empty
// text is a variable that was not set.
Share parse_share(const std::string& text);
// The K's of the runs of N that make these parts, as Slurm's --array takes them: "2,5-7".
std::string array_of(std::span<const std::uint64_t> parts, std::uint64_t of);
// For a person, behind a run that was not the last: how many parts no run has made, and what makes them.
std::string words_of_missing(const Share& share, std::span<const std::uint64_t> missing, std::uint64_t parts,
                             const std::string& output);
// The option --part: of what there are parts, and what the last run does with them.
void describe(Settings& settings, Share& share, const std::string& unit = "shard",
              const std::string& in_the_end = "the last of them puts it together, or millrace finish does");

}  // namespace millrace
