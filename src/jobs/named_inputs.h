// Input: the files and folders that the user named, and the results folder.
// Output: the files among them that a job accepts, each with a name for its results below the results folder.
// Never: gives two files one name, or a name that leads out of the results folder; accepts results of a previous run;
//   opens a file.
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
  // Path relative to the nearest folder that was named; for a file that was itself named, its file name.
  std::string relative_path;
  std::string name;  // of the results
};

struct NamedInputs {
  std::vector<NamedInput> inputs;
  std::vector<Error> unreadable;  // includes named files that cannot be accepted because of their location
  std::uint64_t links = 0;        // symbolic links that were not followed
};

// Rules of a job for its inputs.
struct InputRules {
  std::string argument;  // name of the positional argument, for messages
  // True for a file that is accepted from a folder. Files that were themselves named are always accepted.
  std::function<bool(const FileEntry&)> accepts;
  // Returns the name of an input's results. If this is empty, results are named by the path relative to the folder.
  std::function<std::string(const std::string& relative_path)> name{};
  // Names in the results folder that the job reserves: no results are placed below them.
  std::vector<std::string> reserved{};
  // Returns the names of inputs whose results would have the name `folder`. Empty if results never occupy such names.
  std::function<std::vector<std::string>(const std::string& folder)> inputs_of_result{};
};

// Finds the inputs and names their results. Throws Failure(usage) if the results of two inputs would collide, and
// Failure(conflict) if all inputs lie in the results folder.
NamedInputs find_inputs(const std::vector<std::string>& named, const std::string& output, const FolderOptions& options,
                        const InputRules& rules, const RunContext& context);

}  // namespace millrace
