// Input: what an output is made of, as names and texts.
// Output: the same in a file; and in words, how two outputs differ in it.
// Never: knows what a name means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/io/store/dataset.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace {

// Of several that begin at once one writes the file, and all go by what is there then.
void write_first(const std::string& path, const std::string& text);

// The text of run.json; of a finished output with checksums (src/io/store/checksums.h).
std::string json_of(const Attributes& attributes, std::span<const FileDigest> checksums = {});
// The checksums in it; nullopt where there are none. `member` as below.
std::optional<std::vector<FileDigest>> checksums_in_json(const std::string& path, const char* member = nullptr);
// A file that tells what others hold: its name in the folder of all of them, and what it tells.
using ToldChecksums = std::pair<std::string, std::vector<FileDigest>>;
// The checksums of a finished folder or Zarr group; nullopt where it keeps none.
std::optional<ToldChecksums> checksums_of_store(const std::string& output);
// The texts in a JSON file, or in one member of it; an error where there are none.
Outcome<Attributes> attributes_in_json(const std::string& path, const char* member = nullptr);

// "--size was 400x300, is 800x500", for all that differ; empty where nothing does. The text of "inputs" is a JSON list
// of objects, whose path and path_base64 are for people: a file has many names.
std::string differences(const Attributes& then, const Attributes& now);

// They differ in what computes alone: in the CPU, or the runtime of a network.
bool made_elsewhere(const Attributes& then, const Attributes& now);
inline constexpr const char* kElsewhereRemedy =
    "let machines of one CPU and runtime make all of it, or say --mixed in all runs of a new OUTPUT";

// The output of this folder has its name: what a run that was killed in its last moment has left of the same goes.
// Others' stays.
void remove_left(RunFolder& folder, const Attributes& made_of);

// What a dataset is and how many rows a part of it has, so that its parts can be put together by a run that knows
// nothing else of it.
inline constexpr const char* kPartsFile = "parts.json";
// How many runs share its parts, where several do, and of which version of the program.
inline constexpr const char* kRunsFile = "runs.json";
struct RunsFile {
  std::uint64_t of = 0;
  std::string version;
};
// Error(bad_data) where it is not what a run writes.
Outcome<RunsFile> runs_in_json(const std::string& path);
// Which parts are whose hangs on how many runs there are: a run of another number would leave some to nobody, and make
// others twice at once. The first of them says so in the folder, and Failure(conflict) where this one is of others, or
// of another version.
void agree_on_runs(const RunFolder& folder, const Share& share);
// Of one output.
inline constexpr std::uint64_t kMostParts = std::uint64_t{1} << 20;
struct PartsFile {
  std::string store;  // a name of StoreKind
  std::string mark;   // an attribute that every output of the job has
  Parts parts;
  DatasetSpec spec;
};
std::string json_of(const PartsFile& file);
// Error(bad_data) where it is not what a run writes, or says what cannot be.
Outcome<PartsFile> parts_in_json(const std::string& path);

}  // namespace millrace
