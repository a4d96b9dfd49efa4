// Input: a person's decisions about duplicates, or the journal of a run that carried them out.
// Output: files put into the trash, moved, linked or set aside, or restored to their places; the outcome of each, with
// reasons.
// Never: touches a file without --go, a file that changed, one that the catalog lacks, or a reference; removes the last
// member of a group unless a person confirmed that twice; overwrites anything; destroys a byte, except in purge;
// follows a symbolic link.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/jobs/dedupe/apply/journal.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

struct ApplyOptions {
  std::string decisions;                // path of the decisions file
  std::string action;                   // trash, hardlink, delete, move=DIR
  std::vector<std::string> references;  // folders in which no file is touched
  std::string journal;                  // empty: in the data folder, named by the id
  std::string catalog;                  // empty: the default one
  std::vector<std::string> within;      // folders whose files need not be in the catalog
  bool follow_symlinks = false;         // also files that were found through symbolic links
  bool merge_metadata =
      false;  // writes metadata that a removed file has and the kept one lacks into a sidecar of the kept one
  bool ignore_access = false;  // hardlink: also between files of other owners, groups, modes, access lists
  bool trust_files = false;    // see src/io/file/trusted_file.h
  bool execute = false;
  // Called with the complete plan before anything is done. If it returns false, nothing is done, and Failure(conflict)
  // is thrown.
  std::function<bool(const struct ApplyReport&)> confirm_plan{};

  Trust trust() const { return trust_files ? Trust::files : Trust::checked; }
};

void describe(Settings& settings, ApplyOptions& options);
// Describes all options except the path of the journal.
void describe_action_options(Settings& settings, ApplyOptions& options);
// Throws Failure(usage) for an unknown action.
Action parse_action(const std::string& text);

enum class ItemState : std::uint8_t {
  planned,  // would be done with --go
  done,
  before,   // an earlier run did it
  left,     // left alone, for the given reason
  failed,   // tried in vain, for the given reason; nothing is lost
  lost,     // in an undo: somebody removed the file in the meantime
  waiting,  // the run was interrupted before this item
};
const char* name_of(ItemState state);

struct ReportItem {
  std::string group;
  std::string path;
  std::string to;      // present or planned new path; empty: the trash
  std::string main;    // picture that this file accompanies
  std::string reason;  // why it was left, or a remark
  std::uint64_t size = 0;
  ItemState state = ItemState::planned;
  bool known = true;  // false: not in the catalog, and touched only because of --within; a companion has the value of
                      // its picture
  bool sidecar = false;  // a sidecar written beside the kept picture `main`; no file is removed
};

struct ApplyReport {
  std::string operation;  // apply, undo, purge
  Action action = Action::trash;
  bool execute = false;
  std::string id, journal;
  std::vector<ReportItem> items;
  std::vector<std::string> notes;
  // Number of pairs that the catalog records as not duplicates; in an undo, pairs that it no longer records as such.
  std::uint64_t confirmed_distinct = 0;
  bool confirmed_distinct_done = false;
  bool interrupted = false;

  std::uint64_t count(ItemState state) const;  // files, without the sidecars that this program writes
  std::uint64_t count_sidecars(ItemState state) const;
  std::uint64_t bytes(ItemState state) const;
  ExitCode exit_code() const;
};

ApplyReport apply(const ApplyOptions& options, RunContext& context);
// `journal` is a path, or the id of a journal in the data folder. Without `execute`, only reports what would be done.
ApplyReport undo(const std::string& journal, bool execute, Trust trust, RunContext& context);
ApplyReport purge(const std::string& journal, bool execute, Trust trust, RunContext& context);
// Returns the path for a journal's name or id: an id is looked up in the data folder first.
std::string find_journal_file(const std::string& named);
// Return every file that they name; none if they cannot be read, which the run itself reports.
std::set<std::string> read_decision_paths(const std::string& decisions);
std::set<std::string> read_journal_paths(const std::string& named, Trust trust);

// Returns one line per file, or an empty text; for stdout.
std::string table_of(const ApplyReport& applied);
// Returns totals, the path of the journal, and the next commands; for stderr.
std::string summary_of(const ApplyReport& applied);
std::string json_of(const ApplyReport& applied);

}  // namespace millrace::dedupe
