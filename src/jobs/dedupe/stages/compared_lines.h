// Input: what comparing a part of all pictures has brought, or lines that say so, which may be anybody's.
// Output: the same as lines of JSON; from such lines, what comparing would have brought.
// Never: makes a line longer than kLongestLine; believes that a part or a shard is whole whose last line does not say
//   so, or takes one that a catalogue could not keep.
//
// {"rule": "...", "joined": base64}, {"rule", "codes"} and {"rule", "links"} as often as it takes, then
// {"rule", "end": [bytes joined, bytes of codes, links]}; {"scores": base64}; behind all of a shard {"shard": K,
// "xxh3": of its lines}. In base64: what a catalogue keeps of the rows, as words of a machine whose lowest byte comes
// first; links and scores as (a, b: 64 bits; kind: 32 bits; score: float32).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/jobs/dedupe/match/compared_part.h"

namespace millrace::dedupe {

// Of a stage's folder: an attribute of every such, and its lines.
inline constexpr const char *kCompareMark = "dedupe-compare", *kCompareLines = "compared.jsonl";

std::string lines_of(const ComparedPart& part);
// Behind these lines of it.
std::string line_of_shard(std::uint64_t shard, const std::string& lines);

// Puts lines together.
class ComparedLines {
 public:
  // False where no run has written the line, or not here.
  bool add(const std::string& line);
  // Parts and scores of shards that are whole; whoever takes them clears it.
  std::vector<ComparedPart>& whole() { return whole_; }
  std::uint64_t shards() const { return shards_; }
  // Nothing has begun that has not ended.
  bool at_end() const { return !begun_ && parts_.empty(); }

 private:
  bool add_to_shard(const Json& line);
  bool end_part(const Json& counts);
  bool end_shard(const Json& line);

  std::optional<ComparedPart> begun_;
  std::vector<ComparedPart> parts_, whole_;  // of the shard; of whole ones
  std::uint64_t shards_ = 0, hash_ = 0;
};

}  // namespace millrace::dedupe
