// Input: decisions, a journal of earlier runs, and the disk as it is now.
// Output: what will be done with which file, and for every file that will be left alone the reason.
// Never: changes anything.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/apply/decisions.h"
#include "src/jobs/dedupe/apply/known.h"

namespace millrace::dedupe {

struct Operation {
  JournalRecord record;
  std::size_t item = 0;  // index into Applied::items
};

// What moves together: companions first, the picture last, so that a run that was cut off finds the picture still there
// and with it the companions that are left.
struct AssetOperation {
  std::vector<Operation> operations;
  struct Survivor {
    std::string path;
    FileState state;
    ContentHash hash{};
    bool reference = false;
  };
  std::vector<Survivor> survivors;  // of the picture's groups
};

struct ApplyPlan {
  std::vector<AssetOperation> assets;
};

struct PlanInput {
  const Decisions& decisions;
  Action action;
  std::string destination;              // of move
  std::vector<std::string> references;  // absolute, without links in them
  const Journal& journal;               // empty when there is none
  std::string id;
  bool go;               // whether what the journal tells of as begun was finished or given up
  bool follow_symlinks;  // files may be named through symbolic links
  bool ignore_access;    // hard links between files of different access
  const KnownFiles& known;
};

// Items are added to `applied` in the order of their paths.
ApplyPlan make_plan(const PlanInput& input, Applied& applied, RunContext& context);

}  // namespace millrace::dedupe
