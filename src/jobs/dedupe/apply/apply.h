// Input: a person's decisions about duplicates, or the journal of how they were carried out.
// Output: files put into the trash, moved, linked or set aside, or back where they were; what came of each, and why.
// Never: touches a file without --go, a file that changed, that the catalogue does not know, a reference, or the last
//   member of a group unless a person said twice that none shall stay; overwrites anything; destroys a byte, except in
//   purge; follows a symbolic link.
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
  std::string decisions;                // a file
  std::string action;                   // trash, hardlink, delete, move=DIR
  std::vector<std::string> references;  // folders in which nothing is touched
  std::string journal;                  // empty: under the data folder, by the id
  std::string catalog;                  // empty: the default one
  std::vector<std::string> within;      // folders whose files need not be known to the catalogue
  bool follow_symlinks = false;         // also files that were found through symbolic links
  bool merge_metadata = false;          // what goes and knows more than what stays tells a sidecar of that
  bool ignore_access = false;           // hardlink: also between files of other owners, groups, modes, access lists
  bool trust_files = false;             // see src/io/file/own.h
  bool go = false;
  // Asked with what is about to be done, when all of it is looked at; false: nothing is, and Failure(conflict) says so.
  std::function<bool(const struct Applied&)> agree{};

  Trust trust() const { return trust_files ? Trust::files : Trust::checked; }
};

void describe(Settings& settings, ApplyOptions& options);
// All but where the journal is.
void describe_acting(Settings& settings, ApplyOptions& options);
// Failure(usage) for what is no action.
Action action_in(const std::string& text);

enum class State : std::uint8_t {
  planned,  // would be done with --go
  done,
  before,   // an earlier run did it
  left,     // left alone, for the reason
  failed,   // tried, for the reason; nothing is lost
  lost,     // of an undo: somebody removed it meanwhile
  waiting,  // the run was interrupted before it
};
const char* name_of(State state);

struct Item {
  std::string group;
  std::string path;
  std::string to;      // where it is or would be; empty: the trash
  std::string main;    // the picture that it accompanies
  std::string reason;  // why it was left; or a remark
  std::uint64_t size = 0;
  State state = State::planned;
  bool known = true;     // to the catalogue, or by its picture; else only --within lets it be touched
  bool sidecar = false;  // written beside `main`, which stays: nothing goes
};

struct Applied {
  std::string operation;  // apply, undo, purge
  Action action = Action::trash;
  bool go = false;
  std::string id, journal;
  std::vector<Item> items;
  std::vector<std::string> notes;
  // Pairs that the catalogue takes for no duplicates; of an undo, takes for that no more.
  std::uint64_t not_duplicates = 0;
  bool not_duplicates_done = false;
  bool interrupted = false;

  std::uint64_t count(State state) const;  // of files, sidecars of ours not among them
  std::uint64_t count_sidecars(State state) const;
  std::uint64_t bytes(State state) const;
  ExitCode exit_code() const;
};

Applied apply(const ApplyOptions& options, RunContext& context);
// `journal` is a file, or the id of one in the data folder. Without `go`, says what would be done.
Applied undo(const std::string& journal, bool go, Trust trust, RunContext& context);
Applied purge(const std::string& journal, bool go, Trust trust, RunContext& context);
// The file that a journal's name or id means: an id is looked up in the data folder first.
std::string journal_file(const std::string& named);
// Every file that they name; none where they cannot be read, which the run itself says.
std::set<std::string> paths_in_decisions(const std::string& decisions);
std::set<std::string> paths_in_journal(const std::string& named, Trust trust);

// A line a file, then nothing; for stdout.
std::string table_of(const Applied& applied);
// Totals, where the journal is, and what to type next; for stderr.
std::string summary_of(const Applied& applied);
std::string json_of(const Applied& applied);

}  // namespace millrace::dedupe
