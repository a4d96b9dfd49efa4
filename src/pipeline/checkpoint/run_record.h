// Input: the provenance of an output, as names and texts.
// Output: the provenance in a file; and the differences between two of them, in words.
// Never: depends on the meaning of a name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/io/store/dataset.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace {

// Writes a file if there is none. Of several runs that begin at once one writes it, and all use the file that is there
// then.
void write_if_absent(const std::string& path, const std::string& text);

// Returns the text of run.json; for a finished output with checksums (src/io/store/checksums.h).
std::string json_of(const Attributes& attributes, std::span<const FileDigest> checksums = {});
// Returns the checksums in such a file; nullopt if there are none. `member` as below.
std::optional<std::vector<FileDigest>> read_json_checksums(const std::string& path, const char* member = nullptr);
// File with checksums of others: its name in the folder of all of them, and the checksums.
using NamedChecksums = std::pair<std::string, std::vector<FileDigest>>;
// Returns the checksums of a finished folder or Zarr group; nullopt if it has none.
std::optional<NamedChecksums> read_store_checksums(const std::string& output);
// Returns the texts in a JSON file, or in one member of it; an error if there are none.
Outcome<Attributes> read_json_attributes(const std::string& path, const char* member = nullptr);

// Returns "--size was 400x300, is 800x500", for all that differ; empty if nothing does. The text of "inputs" is a JSON
// list of objects. Their path and path_base64 are not compared: a file has many names.
std::string describe_differences(const Attributes& then, const Attributes& now);

// Returns true if they differ only in what computes: in the CPU, or the runtime of a network.
bool is_from_other_hardware(const Attributes& then, const Attributes& now);
inline constexpr const char* kMixedHardwareRemedy =
    "use one CPU model and runtime for all runs, or start a new OUTPUT with --mixed in all runs";

// Removes the folder of a run that was killed after the output got its name, if the provenance is the same. Otherwise
// the folder is kept.
void remove_leftover_folder(RunFolder& folder, const Attributes& provenance);

// Description of a dataset, and the number of rows in a shard: a run can merge the shards from it alone.
inline constexpr const char* kShardsFile = "parts.json";
// Number of runs that share the shards, if several do, and their version of the program.
inline constexpr const char* kRunsFile = "runs.json";
struct RunsFile {
  std::uint64_t of = 0;
  std::string version;
};
// Error(bad_data) if the file is not what a run writes.
Outcome<RunsFile> read_runs_file(const std::string& path);
// Checks that all runs agree on their number, which decides who makes which shard. A run with another number would
// leave some shards to nobody, and make others twice at once. The first run writes the number and its version into the
// folder. Failure(conflict) if this run has another number or version.
void check_run_count(const RunFolder& folder, const ShardSpec& share);
// Maximum number of shards of an output.
inline constexpr std::uint64_t kMaxShards = std::uint64_t{1} << 20;
struct ShardsFile {
  std::string store;  // a name of StoreKind
  std::string mark;   // an attribute that every output of the job has
  ShardLayout parts;
  DatasetSpec spec;
};
std::string json_of(const ShardsFile& file);
// Error(bad_data) if the file is not what a run writes, or has impossible values.
Outcome<ShardsFile> read_shards_file(const std::string& path);

}  // namespace millrace
