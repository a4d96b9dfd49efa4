// Input: decisions, a journal of earlier runs, and the current state of the disk.
// Output: the operation on each file, and the reason for every file that will be left alone.
// Never: changes anything.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/apply/cataloged_files.h"
#include "src/jobs/dedupe/apply/decisions.h"

namespace millrace::dedupe {

struct Operation {
  JournalRecord record;
  std::size_t item = 0;  // index into ApplyReport::items
};

// Files that move together: companions first, the picture last. So a run that was cut off finds the picture still
// there, and with it the remaining companions.
struct AssetOperation {
  std::vector<Operation> operations;
  struct Survivor {
    std::string path;
    FileState state;
    ContentHash hash{};
    bool reference = false;
  };
  std::vector<Survivor> survivors;  // kept members of the picture's groups
};

struct ApplyPlan {
  std::vector<AssetOperation> assets;
};

struct PlanInput {
  const Decisions& decisions;
  Action action;
  std::string destination;              // for move
  std::vector<std::string> references;  // absolute, without links
  const Journal& journal;               // empty if there is none
  std::string id;
  bool execute;          // false: operations that the journal has as begun were not finished before planning
  bool follow_symlinks;  // true if files may be named through symbolic links
  bool ignore_access;    // true if files of different access may be hard-linked
  const CatalogedFiles& known;
};

// Adds the items to `applied` in the order of their paths.
ApplyPlan make_plan(const PlanInput& input, ApplyReport& applied, RunContext& context);

}  // namespace millrace::dedupe
