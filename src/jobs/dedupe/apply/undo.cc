// Implements undo and purge, which reverse the operations of a journal or make them final.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/confirmed_distinct.h"
#include "src/jobs/dedupe/apply/operation_names.h"
#include "src/jobs/dedupe/apply/restore.h"
#include "src/jobs/dedupe/apply/sidecars.h"
#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {
namespace {

// Reads the journal; with `execute`, locks it against other runs first.
ApplyReport open_journal(const std::string& named, bool execute, Trust trust, const char* operation, Journal& journal,
                         std::unique_ptr<JournalWriter>& writer) {
  ApplyReport applied;
  applied.operation = operation;
  applied.execute = execute;
  applied.journal = find_journal_file(named);
  journal = read_journal(applied.journal, trust);
  if (execute && !journal.id.empty()) {
    writer = std::make_unique<JournalWriter>(applied.journal, trust);
    journal = read_journal(applied.journal, trust);
  }
  applied.id = journal.id;
  applied.action = journal.action;
  if (journal.damaged_lines > 0) {
    applied.notes.push_back(fmt::format(
        "{} lines of the journal cannot be read; the actions that they recorded are unknown", journal.damaged_lines));
  }
  return applied;
}

ReportItem item_of(const JournalRecord& record) {
  ReportItem item;
  item.path = record.path;
  item.main = record.main;
  item.to = record.to;
  item.size = record.before.size;
  return item;
}

// Removes only empty folders that the journal made.
void remove_folders(const Journal& journal) {
  for (auto folder = journal.folders.rbegin(); folder != journal.folders.rend(); ++folder) {
    call_step_hook("remove an empty folder");
    if (is_made_by(*folder, journal)) remove_empty_folder(*folder);
  }
}

// Returns why a file that was set aside must not be destroyed; empty if it may be.
std::string explain_not_purged(const JournalRecord& record, const Journal& journal) {
  const auto state = state_of(record.to);
  if (!state) return state.error().what;
  const auto& made = journal.folders;
  if (std::find(made.begin(), made.end(), folder_of(record.to)) == made.end())
    return "it is not in a folder of this journal";
  if (!state->same(record.before)) return "it is not the file that was set aside";
  if (record.survivors.empty() && !record.whole_group) return "the journal names no file that was kept for it";
  for (std::size_t i = 0; i < record.survivors.size(); ++i) {
    const std::string& path = record.survivors[i];
    const auto survivor = state_of(path);
    if (!survivor || !survivor->regular || survivor->has_same_inode(*state)) {
      return fmt::format("{}, the file kept for it, is missing: undo, or restore that file", escape_unprintable(path));
    }
    if (survivor->size == 0 || (record.survivor_sizes[i] > 0 && survivor->size != record.survivor_sizes[i])) {
      return fmt::format("{}, the file kept for it, has another size now: undo, or check that file",
                         escape_unprintable(path));
    }
  }
  return "";
}

}  // namespace

std::string find_journal_file(const std::string& named) {
  // A file of that name in the current folder may come from anybody.
  if (is_journal_id(named)) {
    std::string by_id = data_path("journals/" + named + ".jsonl");
    if (exists(by_id)) return by_id;
  }
  return named;
}

std::set<std::string> read_journal_paths(const std::string& named, Trust trust) {
  std::set<std::string> paths;
  try {
    const Journal journal = read_journal(find_journal_file(named), trust);
    for (const JournalRecord& record : journal.records) {
      paths.insert({record.path, record.to, record.temporary, record.main});
      paths.insert(record.survivors.begin(), record.survivors.end());
    }
    for (const JournalSidecar& sidecar : journal.sidecars) paths.insert({sidecar.path, sidecar.picture});
    for (const JournalConfirmedDistinct& confirmed : journal.confirmed_distinct) {
      for (std::string& file : catalog_files(confirmed.catalog)) paths.insert(std::move(file));
    }
  } catch (const Failure&) {
    paths.clear();
  }
  return paths;
}

ApplyReport undo(const std::string& named, bool execute, Trust trust, RunContext& context) {
  Journal journal;
  std::unique_ptr<JournalWriter> writer;
  ApplyReport applied = open_journal(named, execute, trust, "undo", journal, writer);
  if (journal.id.empty()) return applied;
  if (execute) writer->write_undo_begun();
  TrashSearch trash;
  Progress progress(context.progress, "undo", journal.records.size());
  UnrestoredFiles gone;
  // Goes backwards, so that each file finds the disk in the state after its operation.
  for (auto record = journal.records.rbegin(); record != journal.records.rend(); ++record) {
    progress.add(1);
    const auto is_gone = [&] {
      for (const std::string& picture : record->survivors) gone.emplace(picture, record->path);
    };
    if (record->undone) {
      if (!exists(record->path)) is_gone();
      continue;
    }
    ReportItem item = item_of(*record);
    if (context.cancel.cancelled()) {
      applied.interrupted = true;
      item.state = ItemState::waiting;
    } else {
      const RestoreResult back = restore(*record, journal, trash, execute);
      if (back.nothing) continue;
      if (back.state != ItemState::done && back.state != ItemState::before) is_gone();
      if (execute && back.state == ItemState::done) writer->write_undone(record->number, back.where);
      item.state = back.state == ItemState::done && !execute ? ItemState::planned : back.state;
      item.to = back.where;
      item.reason = back.reason;
    }
    applied.items.push_back(std::move(item));
  }
  if (!applied.interrupted) undo_sidecars(journal, gone, execute, writer.get(), applied);
  bool all_forgotten = true;
  if (!applied.interrupted) {
    try {
      applied.confirmed_distinct =
          remove_confirmed_distinct(journal, make_catalog_access(context, trust), writer.get());
      applied.confirmed_distinct_done = execute;
    } catch (const Failure& failure) {
      all_forgotten = false;
      applied.notes.push_back("its pairs are still recorded as not duplicates: " + failure.error().message());
    }
  }
  std::sort(applied.items.begin(), applied.items.end(),
            [](const ReportItem& a, const ReportItem& b) { return a.path < b.path; });
  if (execute && !applied.interrupted) {
    remove_folders(journal);
    if (all_forgotten && applied.count(ItemState::failed) + applied.count_sidecars(ItemState::failed) == 0)
      writer->write_undo_finished();
  }
  return applied;
}

ApplyReport purge(const std::string& named, bool execute, Trust trust, RunContext& context) {
  Journal journal;
  std::unique_ptr<JournalWriter> writer;
  ApplyReport applied = open_journal(named, execute, trust, "purge", journal, writer);
  if (!journal.id.empty() && journal.action != Action::remove) {
    throw Failure(ErrorCode::usage,
                  fmt::format("this journal is of --action {}, which sets no file aside", name_of(journal.action)),
                  escape_unprintable(applied.journal),
                  journal.action == Action::trash ? "empty the trash instead"
                                                  : "only a journal of --action delete can be purged");
  }
  for (const JournalRecord& record : journal.records) {
    if (record.undone || record.purged || (!exists(record.to) && (record.failed || record.is_open() || record.purging)))
      continue;
    ReportItem item = item_of(record);
    item.path = record.to;
    item.to.clear();
    item.reason = "was " + escape_unprintable(record.path);
    if (context.cancel.cancelled()) {
      applied.interrupted = true;
      item.state = ItemState::waiting;
    } else if (const std::string why = explain_not_purged(record, journal); !why.empty()) {
      item.state = ItemState::left;
      item.reason = why;
    } else if (execute) {
      writer->write_purging(record.number);
      call_step_hook("destroy");
      const auto done = remove_name(record.to, record.before);
      item.state = done.ok() ? ItemState::done : ItemState::failed;
      if (!done.ok()) item.reason = done.error().what;
      if (done.ok()) writer->write_purged(record.number);
    }
    applied.items.push_back(std::move(item));
  }
  if (execute && !applied.interrupted) remove_folders(journal);
  return applied;
}

}  // namespace millrace::dedupe
