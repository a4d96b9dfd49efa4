// Enters: bytes of an output.
// Leaves: the whole file under its name, or the old one untouched.
// Never: leaves half a file behind.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/error.h"
#include "src/base/paths.h"
#include "src/io/file/place.h"

namespace millrace {

// What may stand under an output's name when it gets it: whatever is there; or what was looked at before, and nothing
// else.
struct Replaceable {
  bool anything = true;
  std::optional<FileState> looked_at{};  // without `anything`: this file, or, where it is none, no file at all
};
// Who may read an output. Lists of a person's files are that person's alone (mode 0600).
enum class Readers : std::uint8_t { everyone, owner };

// Written to a temporary name in the same folder, which is short whatever the file's own name is; commit() syncs,
// renames and syncs the folder. Without a commit, the temporary file is removed. Every failure throws Failure with the
// path.
class AtomicFile {
 public:
  // How the names of temporary files begin; a run that is killed leaves its own.
  static constexpr const char* kTemporaryPrefix = ".millrace-partial-";

  // A name of its own; or PATH.part, which the next attempt takes over.
  enum class Temporary { unique, part };
  explicit AtomicFile(std::string path, Temporary temporary = Temporary::unique);
  // commit() throws Failure(conflict) where something else than `replaces` has the name by then; that stays.
  AtomicFile(std::string path, Replaceable replaces, Readers readers);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // At a place of its own, which may lie behind the end; write() goes on where it was.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // All of it on the disk under the temporary name, so that several files can be whole before the first has its name.
  void sync();
  void commit();

 private:
  void open_folder();
  int create(mode_t mode) const;
  void create_unique(Readers readers);
  void flush();
  std::string name() const { return path_.substr(path_.find_last_of('/') + 1); }
  void put_in_place();

  std::string path_, temporary_;  // the temporary one is a name in the folder
  Descriptor folder_;
  Replaceable replaces_;
  std::string pending_;
  int fd_ = -1;
  bool synced_ = false;
};

// `text` as the whole of a file, in place of whatever has its name.
void write_file(const std::string& path, std::string_view text);
// All of the bytes to what is open; `path` is for the message of a Failure.
void write_all(int fd, std::string_view bytes, const std::string& path);

// All of a file on the disk. Throws Failure.
void sync_file(const std::string& path);
// The new name survives a power cut, as what has it does if that was synced before. Throws Failure.
void rename_file(const std::string& from, const std::string& to);
// Syncs a folder, so that names in it survive a power cut.
void sync_folder(const std::string& folder);

}  // namespace millrace
