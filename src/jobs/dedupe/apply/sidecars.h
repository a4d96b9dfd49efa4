// Enters: a plan of what goes, and what those files and the ones that stay say of themselves.
// Leaves: sidecars beside those that stay, which say what they lack; taken back by an undo.
// Never: changes a picture, or a sidecar that is there; writes where a reference is; lets go what knows something that
//   could not be written down.
#pragma once

#include "src/jobs/dedupe/apply/plan.h"

namespace millrace::dedupe {

struct SidecarPlan {
  JournalSidecar record;
  std::string text;
  FileState like;                   // the picture
  std::vector<std::size_t> assets;  // of the plan: what it is written for
  std::size_t item = 0;
};

// Of each picture that stays one, where what goes for it knows more. What cannot be told stays: its items are left and
// its assets are taken out of the plan.
std::vector<SidecarPlan> plan_sidecars(ApplyPlan& plan, const PlanInput& input, Applied& applied);

// Writes one, told to the journal before; on failure what it is for is left.
void write_sidecar(const SidecarPlan& sidecar, ApplyPlan& plan, const std::string& id, JournalWriter& writer,
                   Applied& applied);

// What a run left that was cut off while it wrote one.
void tidy_sidecars(const Journal& journal);

// Removes those that a journal tells of and that are as they were written, and adds an item each. True when none
// failed.
void undo_sidecars(const Journal& journal, bool go, JournalWriter* writer, Applied& applied);

}  // namespace millrace::dedupe
