// Input: files and folders that a person named, and the folder of results.
// Output: the files in them that a job takes, each with a name for its results below that folder.
// Never: gives two of them one name, or one that leads out of that folder; takes results of an earlier run; opens a
//   file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/jobs/folder_options.h"

namespace millrace {

struct NamedInput {
  FileEntry file;
  // Below the nearest folder that was named, with its folders; of a file that was named itself its own name.
  std::string below;
  std::string name;  // of its results
};

struct NamedInputs {
  std::vector<NamedInput> inputs;
  std::vector<Error> unreadable;  // also what was named and cannot be taken where it lies
  std::uint64_t links = 0;        // symbolic links that were not followed
};

// What a job says of its inputs.
struct InputRules {
  std::string argument;  // as the command line calls them, for messages
  // Of a file in a folder; one that was named itself is taken whatever it is.
  std::function<bool(const FileEntry&)> takes;
  // What its results are named by; empty: as it lies below.
  std::function<std::string(const std::string& below)> name{};
  // Names in the folder of results that are the job's own: nothing lies below them.
  std::vector<std::string> reserved{};
  // A folder of this name would be what one of these is made into; empty: none would.
  std::function<std::vector<std::string>(const std::string& folder)> made_from{};
};

// Failure(usage) where results of two would lie in each other's way; (conflict) where all of them lie in the folder of
// results.
NamedInputs find_inputs(const std::vector<std::string>& named, const std::string& output, const FolderOptions& options,
                        const InputRules& rules, const RunContext& context);

}  // namespace millrace
