// Input: a plan of what goes, and what those files and the ones that stay say of themselves.
// Output: sidecars beside those that stay, which say what they lack; taken back by an undo.
// Never: changes a picture, or a sidecar that is there; writes where a reference is; lets go what knows something that
//   could not be written down.
#pragma once

#include <map>
#include <string>
#include <vector>

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

// After a run: removes those again that a journal tells of and for whose picture nothing went.
void take_back_sidecars(const Journal& journal, JournalWriter& writer, Applied& applied);

// Of a picture that stays, a file that went for it and is not back.
using StillGone = std::map<std::string, std::string>;
// Removes those that a journal tells of and that are as they were written, and adds an item each. What one says of a
// picture that something is still gone for may be nowhere else: it stays.
void undo_sidecars(const Journal& journal, const StillGone& gone, bool go, JournalWriter* writer, Applied& applied);

}  // namespace millrace::dedupe
