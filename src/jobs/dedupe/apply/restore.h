// Input: a record of a journal, and the disk as it is now.
// Output: the operation finished, or taken back: both find out from the disk how far it came.
// Never: trusts that a line about its end was written; overwrites anything.
#pragma once

#include "src/io/file/trash.h"
#include "src/jobs/dedupe/apply/apply.h"

namespace millrace::dedupe {

struct Restored {
  State state = State::done;
  std::string where;     // where the file is now
  std::string reason;    // why it could not be, or a remark
  bool nothing = false;  // the operation had not been done: there is nothing to say
};

// Brings one file back under its old name; beside it when that name is taken. Without `go` says what would be done.
Restored restore(const JournalRecord& record, const Journal& journal, TrashSearch& trash, bool go);

// Finishes what a run began that was cut off. True when the operation is done now; else it has to be done again, or
// `reason` says why that cannot be.
bool finish_operation(const JournalRecord& record, Action action, std::string& reason);

}  // namespace millrace::dedupe
