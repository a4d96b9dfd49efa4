// Input: "2/8" or "slurm/8", as a user or a scheduler gives it.
// Output: the shards that this run makes if several make an output; the runs of an array that make missing shards.
// Never: decides which run makes a shard that was assigned to two of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/base/settings.h"

namespace millrace {

// Shards whose number has the remainder `index` when divided by `of`.
struct ShardSpec {
  std::uint64_t index = 0, of = 0;  // of 0: there is one run, which makes all

  explicit operator bool() const { return of > 0; }
  bool has_shard(std::uint64_t part) const { return of == 0 || part % of == index; }
  // Returns how many of `parts` shards this run makes.
  std::uint64_t count(std::uint64_t parts) const {
    if (of == 0) return parts;
    return parts <= index ? 0 : (parts - index - 1) / of + 1;
  }
};

// Parses "K/N", K from 1 to N; "slurm/N", whose K is SLURM_ARRAY_TASK_ID; or "all". Failure(usage) for anything else:
// an empty text is a variable that was not set.
ShardSpec parse_shard_spec(const std::string& text);
// Returns the K's of the runs of N that make these shards, in the form of Slurm's --array: "2,5-7".
std::string format_slurm_array(std::span<const std::uint64_t> parts, std::uint64_t of);
// Returns a message after a run that was not the last: how many shards no run has made, and what makes them.
std::string describe_missing_shards(const ShardSpec& share, std::span<const std::uint64_t> missing, std::uint64_t parts,
                                    const std::string& output);
// Describes the option --part: the unit that is divided, and what the last run does with the units.
void describe(Settings& settings, ShardSpec& share, const std::string& unit = "shard",
              const std::string& in_the_end = "the last run merges all");

}  // namespace millrace
