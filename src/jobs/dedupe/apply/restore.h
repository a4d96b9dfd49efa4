// Input: a record of a journal, and the current state of the disk.
// Output: the operation finished or undone; both determine from the disk how far it came.
// Never: relies on the journal line that reports the end of the operation; overwrites anything.
#pragma once

#include "src/io/file/trash.h"
#include "src/jobs/dedupe/apply/apply.h"

namespace millrace::dedupe {

struct RestoreResult {
  ItemState state = ItemState::done;
  std::string where;     // current path of the file
  std::string reason;    // why it could not be restored, or a remark
  bool nothing = false;  // the operation had not been done, so there is nothing to report
};

// Restores one file to its old path, or to a path beside it if that is taken. Without `execute`, only reports what
// would be done.
RestoreResult restore(const JournalRecord& record, const Journal& journal, TrashSearch& trash, bool execute);

// Finishes an operation of a run that was cut off. Returns true if it is done now. Otherwise it must be done again, or
// `reason` says why that is impossible.
bool finish_operation(const JournalRecord& record, Action action, std::string& reason);

}  // namespace millrace::dedupe
