// Input: an output whose shards were made by several runs, here or on other disks.
// Output: the output, merged from the shards, under its name.
// Never: makes a shard, or depends on the job that made them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/io/store/checksums.h"

namespace millrace {

struct FinishResult {
  std::string unit;  // word for its rows
  std::uint64_t rows = 0, parts = 0, imported = 0, bytes = 0;
  bool before = false;  // it was complete already
};

// `from` are folders OUTPUT.shards of runs on other disks. Throws Failure(not_found) if no run has left shards.
// Failure(conflict) if shards are missing, a folder's shards have another provenance, or a run is at work. For missing
// shards it names them, and the runs of an array that make them. `check_cancelled` is called now and then, and may
// throw. Work done until then is kept.
FinishResult finish(const std::string& output, const std::vector<std::string>& from,
                    const std::function<void()>& check_cancelled);

// Result of find_shards(), which finds what finish() would find, and changes nothing.
struct ShardFindings {
  std::string unit;
  std::uint64_t rows = 0, parts = 0;
  std::vector<std::uint64_t> missing;
  std::string array;  // tasks of an array job that would make them, as "2,5-7"; empty if runs do not share them
};
ShardFindings find_shards(const std::string& output, const std::vector<std::string>& from);

// Reads a finished output and compares each of its files with its recorded checksum. Failure(not_found) if there is
// none. `check_cancelled` as above.
ChecksumResult verify_output(const std::string& output, const std::function<void()>& check_cancelled);

}  // namespace millrace
