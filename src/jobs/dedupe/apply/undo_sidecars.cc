// Removes the sidecars that a journal records.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/text.h"
#include "src/io/image/photo_metadata.h"
#include "src/jobs/dedupe/apply/operation_names.h"
#include "src/jobs/dedupe/apply/sidecars.h"

namespace millrace::dedupe {
namespace {

// A journal is untrusted: a file that it names is not therefore this program's.
bool is_as_written(const JournalSidecar& sidecar, const FileState& state) {
  if (!state.regular || state.size != sidecar.size) return false;
  const auto text = read_sidecar_text(sidecar.path);
  return text && is_own_xmp_sidecar(*text) && content_hash(*text) == sidecar.hash;
}

Outcome<void> remove(const JournalSidecar& sidecar, const FileState& state, JournalWriter& writer) {
  call_step_hook("remove a sidecar");
  auto removed = remove_name(sidecar.path, state);
  if (removed.ok()) writer.write_undone(sidecar.number, sidecar.path);
  return removed;
}

ReportItem item_of(const JournalSidecar& sidecar) {
  ReportItem item;
  item.path = sidecar.path;
  item.main = sidecar.picture;
  item.size = sidecar.size;
  item.sidecar = true;
  return item;
}

}  // namespace

void remove_stale_sidecars(const Journal& journal) {
  for (const JournalSidecar& sidecar : journal.sidecars) {
    if (!sidecar.done && !sidecar.undone)
      remove_unneeded_file(temporary_sidecar_path(sidecar.picture, journal.id, sidecar.number));
  }
}

void remove_unneeded_sidecars(const Journal& journal, JournalWriter& writer, ApplyReport& applied) {
  std::set<std::string> needed;
  for (const JournalRecord& record : journal.records) {
    if (!record.undone && !record.failed) needed.insert(record.survivors.begin(), record.survivors.end());
  }
  for (const JournalSidecar& sidecar : journal.sidecars) {
    if (sidecar.undone || needed.count(sidecar.picture) > 0) continue;
    const auto state = state_of(sidecar.path);
    if (!state || !is_as_written(sidecar, *state)) continue;
    auto item = std::find_if(applied.items.begin(), applied.items.end(),
                             [&](const ReportItem& i) { return i.sidecar && i.path == sidecar.path; });
    if (item == applied.items.end()) item = applied.items.insert(item, item_of(sidecar));
    const auto removed = remove(sidecar, *state, writer);
    item->state = removed.ok() ? ItemState::left : ItemState::failed;
    item->reason = removed.ok() ? "it was removed again: no file was removed for whose metadata it was written"
                                : "it is not needed, since no file was removed for it, but it cannot be removed: " +
                                      removed.error().what;
  }
}

void undo_sidecars(const Journal& journal, const UnrestoredFiles& gone, bool execute, JournalWriter* writer,
                   ApplyReport& applied) {
  if (execute) remove_stale_sidecars(journal);
  std::set<std::string> seen;  // a resumed run may write a sidecar again that it removed
  for (auto sidecar = journal.sidecars.rbegin(); sidecar != journal.sidecars.rend(); ++sidecar) {
    if (sidecar->undone || !seen.insert(sidecar->path).second) continue;
    const auto state = state_of(sidecar->path);
    if (!state) continue;  // it was never written, or somebody removed it
    ReportItem item = item_of(*sidecar);
    if (!is_as_written(*sidecar, *state)) {
      // If the sidecar was not written, the file there is somebody's own.
      if (!sidecar->done) continue;
      item.state = ItemState::left;
      item.reason = "it has changed since it was written, so it is kept";
    } else if (const auto still = gone.find(sidecar->picture); still != gone.end()) {
      item.state = ItemState::left;
      item.reason = fmt::format("{} is not restored, and its metadata may be only here, so it is kept",
                                escape_unprintable(file_name(still->second)));
    } else if (execute) {
      const auto removed = remove(*sidecar, *state, *writer);
      item.state = removed.ok() ? ItemState::done : ItemState::failed;
      if (!removed.ok()) item.reason = removed.error().what;
    }
    applied.items.push_back(std::move(item));
  }
}

}  // namespace millrace::dedupe
