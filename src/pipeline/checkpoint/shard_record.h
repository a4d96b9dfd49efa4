// Input: a shard that a run has made, and the identity of that run.
// Output: a file beside the shard with both, and with the number and a hash of its bytes; the contents of such a file.
// Never: decides what is done with a shard that has changed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/shard_bytes.h"

namespace millrace {

struct ShardRecord {
  std::uint64_t part = 0, rows = 0;
  std::vector<FileDigest> files;  // in the order of ShardBytes
  std::string run;                // the run's --part: "3/16"
  // Hash of inode and change time of its input files, and the machine that saw them: both are valid only there. 0: not
  // known.
  std::uint64_t inputs = 0;
  std::string host{};
};

// Returns the name of a shard's record in a folder of shards.
std::string shard_record_name(std::uint64_t part);
std::string json_of(const ShardRecord& record);
// Returns nullopt if no run has written the file, or it is the record of another shard.
std::optional<ShardRecord> read_shard_record(const std::string& path, std::uint64_t part);

// Returns false if a shard does not match its record in the folder, or has none: its bytes are hashed. Also false if
// this machine has made it, and its inputs have changed since. A shard inside of the output has no bytes of its own,
// and passes. `check_cancelled` is called now and then, and may throw.
bool is_as_recorded(const ShardBytes& bytes, const std::string& folder, std::uint64_t part, std::uint64_t inputs,
                    const std::function<void()>& check_cancelled);
// Compares only the number and the hash of the bytes.
bool has_recorded_hash(const ShardBytes& bytes, const ShardRecord& record,
                       const std::function<void()>& check_cancelled);

}  // namespace millrace
