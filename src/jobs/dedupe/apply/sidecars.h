// Input: a plan of removals, and the metadata of the removed files and of the kept ones.
// Output: sidecars beside kept files with the metadata that these lack; an undo removes the sidecars.
// Never: changes a picture or an existing sidecar; writes into a reference folder; lets a file be removed whose
// metadata could not be written down.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/jobs/dedupe/apply/plan.h"

namespace millrace::dedupe {

struct SidecarPlan {
  JournalSidecar record;
  std::string text;
  FileState like;                   // state of the picture
  std::vector<std::size_t> assets;  // indexes of the assets in the plan for which it is written
  std::size_t item = 0;
};

// Plans a sidecar for each kept picture that lacks metadata of the files removed for it. Files with metadata that
// cannot be written down are left, and their assets are taken out of the plan.
std::vector<SidecarPlan> plan_sidecars(ApplyPlan& plan, const PlanInput& input, ApplyReport& applied);

// Writes a sidecar, after noting it in the journal. On failure the files for which it is written are left.
void write_sidecar(const SidecarPlan& sidecar, ApplyPlan& plan, const std::string& id, JournalWriter& writer,
                   ApplyReport& applied);

// Removes the temporary file of a run that was cut off while it wrote a sidecar.
void remove_stale_sidecars(const Journal& journal);

// Called after a run: removes the sidecars of the journal for whose picture no file was removed.
void remove_unneeded_sidecars(const Journal& journal, JournalWriter& writer, ApplyReport& applied);

// For a kept picture, a file that was removed in its favour and is not restored.
using UnrestoredFiles = std::map<std::string, std::string>;
// Removes the sidecars of a journal that are unchanged, and adds an item for each. Keeps the sidecar of a picture with
// a file in `gone`: its metadata may exist nowhere else.
void undo_sidecars(const Journal& journal, const UnrestoredFiles& gone, bool execute, JournalWriter* writer,
                   ApplyReport& applied);

}  // namespace millrace::dedupe
