// Input: results of comparing a range of pictures; or untrusted lines that claim such results.
// Output: the results as lines of JSON; or the results that such lines hold.
// Never: makes a line longer than kMaxLineBytes; accepts a batch or a shard without its last line, or a batch that no
// catalog could hold.
//
// Lines of a batch are {"rule": "...", "joined": base64}, {"rule", "codes"} and {"rule", "links"}, each as often as
// needed. The last is {"rule", "end": [bytes joined, bytes of codes, links]}. Lines of scores are {"scores": base64}.
// The last line of a shard is {"shard": K, "xxh3": hash of its lines}. The base64 data are the catalog's format of the
// rows, as little-endian words; links and scores are (a, b: 64 bits; kind: 32 bits; score: float32).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/jobs/dedupe/match/compared_batch.h"

namespace millrace::dedupe {

// Attribute that every folder of the stage has, and the name of its lines.
inline constexpr const char *kCompareMark = "dedupe-compare", *kCompareLines = "compared.jsonl";

std::string format_lines(const ComparedBatch& part);
// Returns the last line of a shard, which follows `lines`.
std::string format_shard_end(std::uint64_t shard, const std::string& lines);

// Assembles the results from lines.
class ComparedLinesParser {
 public:
  // Returns false for a line that no run writes, or not at this place.
  bool add(const std::string& line);
  // Batches and scores of complete shards; the caller clears the list after use.
  std::vector<ComparedBatch>& complete_parts() { return complete_parts_; }
  std::uint64_t shards() const { return shards_; }
  // True if no batch or shard is incomplete.
  bool is_complete() const { return !begun_ && parts_.empty(); }

 private:
  bool add_to_shard(const Json& line);
  bool end_part(const Json& counts);
  bool end_shard(const Json& line);

  std::optional<ComparedBatch> begun_;
  std::vector<ComparedBatch> parts_, complete_parts_;  // of the current shard; of complete shards
  std::uint64_t shards_ = 0, hash_ = 0;
};

}  // namespace millrace::dedupe
