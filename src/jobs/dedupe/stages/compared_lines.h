// Enters: what comparing a part of all pictures has brought, or lines that say so, which may be anybody's.
// Leaves: the same as lines of JSON; from such lines, what comparing would have brought.
// Never: makes a line longer than kLongestLine; believes that a part is whole whose last line does not say so.
//
// {"rule": "...", "joined": base64}, {"rule", "codes"} and {"rule", "links"} as often as it takes, then
// {"rule", "end": [bytes joined, bytes of codes, links]}; {"scores": base64}; behind all of a shard {"shard": K}. In
// base64: what a catalogue keeps of the rows, as words of a machine whose lowest byte comes first; links and scores as
// (a, b: 64 bits; kind: 32 bits; score: float32).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "src/jobs/dedupe/match/compared_part.h"

namespace millrace::dedupe {

// Of a stage's folder: an attribute of every such, and its lines.
inline constexpr const char *kCompareMark = "dedupe-compare", *kCompareLines = "compared.jsonl";

std::string lines_of(const ComparedPart& part);
std::string line_of_shard(std::uint64_t shard);

// Puts lines together.
class ComparedLines {
 public:
  // False where no run has written the line, or not here.
  bool add(const std::string& line);
  // Parts that are whole by now, and scores; each once.
  std::deque<ComparedPart>& whole() { return whole_; }
  std::uint64_t shards() const { return shards_; }
  // Nothing has begun that has not ended.
  bool at_end() const { return !begun_; }

 private:
  bool end_part(const std::vector<std::uint64_t>& counts);

  std::optional<ComparedPart> begun_;
  std::deque<ComparedPart> whole_;
  std::uint64_t shards_ = 0;
};

}  // namespace millrace::dedupe
