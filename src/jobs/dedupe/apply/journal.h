// Input: the operation that is about to be done with a file, and then its outcome.
// Output: lines on disk, synced before the operation, from which every operation can be found again and undone.
// Never: rewrites a line, so a journal may end anywhere, also within a line; obeys a journal that others could have
// written, or that names paths which no run names. Such a journal is refused as a whole.
//
// The format is JSON lines. The first line names the journal. For every file an intent follows, with its number, its
// old and new path and its state; after the operation, a line with that number and the outcome:
//   {"millrace_journal": 1, "id": "...", "action": "delete", "decisions": "...", "destination": "..." (of move)}
//   {"folder": "..."}                                             before a folder is made
//   {"apart": [["hash", "hash"], ...], "catalog": "..."}          before pairs are written to the catalog
//   {"n": 3, "sidecar": "...", "picture": "...", "size": ..., "hash": "..."}   before a sidecar is written
//   {"n": 1, "intent": "delete", "path": "...", "to": "...", "temporary": "...", "size": ..., ...}
//   {"n": 1, "done": true} | {"n": 1, "failed": "reason"}
//   {"undo": true}, {"n": 1, "undone": "where it is now"}, {"apart": "forgotten"}, {"undo": "finished"}
//          {"n": 1, "purge": true}, {"n": 1, "purged": true}
// A path that is not UTF-8 is stored in its display form, and in Base64 in a field whose name ends in "_base64".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/io/file/file_reader.h"
#include "src/io/file/relocate.h"
#include "src/io/file/trusted_file.h"

namespace millrace::dedupe {

enum class Action : std::uint8_t { trash, move, hardlink, remove };
const char* name_of(Action action);
std::optional<Action> parse_action_name(const std::string& name);

// Operation on one file. The mode, owner and group in `before` are for information; an undo never restores them.
struct JournalRecord {
  std::uint64_t number = 0;
  std::string path;       // old path
  std::string to;         // new path; with hardlink, the file that it becomes another name of; empty with trash
  std::string temporary;  // temporary name that the operation may use
  std::string main;       // picture whose companion it is; empty for a picture
  std::vector<std::string> survivors;         // kept members of its groups
  std::vector<std::uint64_t> survivor_sizes;  // of each survivor; 0 in journals of earlier versions, which lack it
  bool whole_group = false;                   // no member is kept for it: a person confirmed that twice
  FileState before;
  std::optional<ContentHash> hash;
  bool done = false, failed = false, undone = false, purging = false, purged = false;

  bool is_open() const { return !done && !failed && !undone && !purging; }
};

using ConfirmedDistinctPair = std::pair<ContentHash, ContentHash>;  // the lower content first

// Contents that are not duplicates, and the catalog that records it.
struct JournalConfirmedDistinct {
  std::string catalog;
  std::vector<ConfirmedDistinctPair> pairs;
};

// Sidecar beside a kept picture, written before the files whose metadata it holds are removed.
struct JournalSidecar {
  std::uint64_t number = 0;
  std::string path, picture;
  std::uint64_t size = 0;
  ContentHash hash{};
  bool done = false, failed = false, undone = false;
};

struct Journal {
  std::string path, id;
  Action action = Action::trash;
  std::string destination;             // for move; empty in journals of earlier versions
  std::vector<std::string> folders;    // folders that the run made or was about to make
  std::vector<JournalRecord> records;  // in ascending order of their numbers
  std::vector<JournalSidecar> sidecars;
  std::vector<JournalConfirmedDistinct> confirmed_distinct;  // pairs that the run recorded or was about to record
  bool confirmed_distinct_forgotten = false;                 // true after an undo removed them again
  bool undo_begun = false, undo_finished = false;
  std::size_t damaged_lines = 0;  // a last line that was cut off does not count

  const JournalRecord* find_latest(const std::string& path) const;
  std::uint64_t next_number() const;
};

// Parses the text of a journal; `path` is for messages. Throws Failure(bad_data) for a text that this program cannot
// have written.
Journal parse_journal(std::string_view text, const std::string& path);
// Throws as parse_journal() does; Failure(not_found) if the file does not exist. Throws Failure(conflict) if it is not
// trusted (src/io/file/trusted_file.h). The same for a journal outside the data folder that this program did not note
// there. Ownership proves nothing then: a person also owns received files.
Journal read_journal(const std::string& path, Trust trust);

class JournalWriter {
 public:
  // Continues a journal, or begins one with its folders if the file does not exist. Throws Failure(conflict) when
  // another run holds it.
  JournalWriter(const std::string& path, const Journal& journal, const std::string& decisions, Trust trust);
  // Continues an existing journal.
  JournalWriter(const std::string& path, Trust trust);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Each function returns when its line is on the disk. If it throws Failure, the operation that the line announces
  // must not be done.
  void write_folder(const std::string& path);
  void write_confirmed_distinct(const JournalConfirmedDistinct& confirmed);
  void write_confirmed_distinct_forgotten();
  void write_intent(const JournalRecord& record, Action action);
  void write_sidecar(const JournalSidecar& sidecar);
  void write_done(std::uint64_t number);
  void write_failed(std::uint64_t number, const std::string& reason);
  void write_undo_begun();
  void write_undo_finished();  // all files are restored
  void write_undone(std::uint64_t number, const std::string& where);
  void write_purging(std::uint64_t number);
  void write_purged(std::uint64_t number);

  const std::string& path() const { return path_; }

 private:
  void open(bool create);
  void write_line(std::string text, bool now = true);

  std::string path_;
  Trust trust_;
  Descriptor file_,
      acting_;  // both are locked: against other runs with this journal, and against other runs of this user
  bool fresh_ = false;
};

}  // namespace millrace::dedupe
