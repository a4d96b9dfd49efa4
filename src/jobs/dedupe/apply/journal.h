// Input: what is about to be done with a file, and then what became of it.
// Output: lines on disk, synced before the operation, from which every operation can be found again and taken back.
// Never: rewrites a line. A journal may end anywhere, also in the middle of a line. Takes orders: one that others could
//   have written is not read, and one that names what no run names is refused as a whole.
//
// JSON lines. The first names the journal; then, for every file, an intent with its number, its old place, its new one
// and how it looked, and after the operation a line with that number that says what came of it:
//   {"millrace_journal": 1, "id": "...", "action": "delete", "decisions": "...", "destination": "..." (of move)}
//   {"folder": "..."}                                             before a folder is made
//   {"apart": [["hash", "hash"], ...], "catalog": "..."}          before the catalogue learns of pairs
//   {"n": 3, "sidecar": "...", "picture": "...", "size": ..., "hash": "..."}   before a sidecar is written
//   {"n": 1, "intent": "delete", "path": "...", "to": "...", "temporary": "...", "size": ..., ...}
//   {"n": 1, "done": true} | {"n": 1, "failed": "reason"}
//   {"undo": true}, {"n": 1, "undone": "where it is now"}, {"apart": "forgotten"}, {"undo": "finished"}
//          {"n": 1, "purge": true}, {"n": 1, "purged": true}
// A path that is not UTF-8 stands beside its display form in a field with "_base64" behind its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/io/file/own.h"
#include "src/io/file/reader.h"
#include "src/io/file/relocate.h"

namespace millrace::dedupe {

enum class Action : std::uint8_t { trash, move, hardlink, remove };
const char* name_of(Action action);
std::optional<Action> action_from(const std::string& name);

// One file's operation. Of how the file was, mode, owner and group are for people: they are never put back.
struct JournalRecord {
  std::uint64_t number = 0;
  std::string path;       // where it was
  std::string to;         // where it goes; with hardlink, the file that it becomes another name of; with trash empty
  std::string temporary;  // a name that the operation may use in between
  std::string main;       // the picture whose companion it is; empty for a picture
  std::vector<std::string> survivors;         // the members of its groups that stay
  std::vector<std::uint64_t> survivor_sizes;  // of each; 0 in journals of earlier versions, which do not tell
  bool whole_group = false;                   // nothing stays for it: a person said so twice
  FileState before;
  std::optional<ContentHash> hash;
  bool done = false, failed = false, undone = false, purging = false, purged = false;

  bool open() const { return !done && !failed && !undone && !purging; }
};

using NotDuplicatePair = std::pair<ContentHash, ContentHash>;  // the smaller first

// Contents that are no duplicates, and the catalogue that was told so.
struct JournalNotDuplicates {
  std::string catalog;
  std::vector<NotDuplicatePair> pairs;
};

// A sidecar beside a picture that stays, written for what goes. Before any of that does.
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
  std::string destination;             // of move; empty in journals of earlier versions
  std::vector<std::string> folders;    // that it made or was about to
  std::vector<JournalRecord> records;  // numbers ascending
  std::vector<JournalSidecar> sidecars;
  std::vector<JournalNotDuplicates> not_duplicates;  // that it added or was about to
  bool not_duplicates_forgotten = false;             // and took out again
  bool undo_begun = false, undo_finished = false;
  std::size_t damaged_lines = 0;  // a last line that was cut off is none

  const JournalRecord* latest_of(const std::string& path) const;
  std::uint64_t next_number() const;
};

// The text of a journal; `path` is for messages. Failure(bad_data) when this program could not have written it.
Journal parse_journal(std::string_view text, const std::string& path);
// Failure as of parse_journal(); (conflict) when the file is not believed (src/io/file/own.h), or lies outside the data
// folder and this program did not note there that it made it: what a person was sent is a file of that person's too.
// (not_found) when it is not there.
Journal read_journal(const std::string& path, Trust trust);

class JournalWriter {
 public:
  // Continues a journal, or begins one when the file does not exist; its folders are made. Failure(conflict) when
  // another run holds it.
  JournalWriter(const std::string& path, const Journal& journal, const std::string& decisions, Trust trust);
  // Continues an existing one.
  JournalWriter(const std::string& path, Trust trust);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Each returns when the line is on the disk, or throws Failure: then nothing may be done that it would have told of.
  void folder(const std::string& path);
  void not_duplicates(const JournalNotDuplicates& told);
  void not_duplicates_forgotten();
  void intent(const JournalRecord& record, Action action);
  void sidecar(const JournalSidecar& sidecar);
  void done(std::uint64_t number);
  void failed(std::uint64_t number, const std::string& reason);
  void undo_begins();
  void undo_ends();  // everything is back
  void undone(std::uint64_t number, const std::string& where);
  void purging(std::uint64_t number);
  void purged(std::uint64_t number);

  const std::string& path() const { return path_; }

 private:
  void open(bool create);
  void line(std::string text, bool now = true);

  std::string path_;
  Trust trust_;
  Descriptor file_, acting_;  // both locked: by one run with this journal, and one of this user
  bool fresh_ = false;
};

}  // namespace millrace::dedupe
