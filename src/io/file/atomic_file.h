// Input: bytes of an output.
// Output: the whole file under its name, or the old one untouched.
// Never: leaves half a file behind.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/error.h"
#include "src/base/paths.h"
#include "src/io/file/file_digest.h"
#include "src/io/file/place.h"
#include "src/io/file/running_hash.h"

namespace millrace {

// What may stand under an output's name when it gets it: whatever is there; or what was looked at before, and nothing
// else.
struct Replaceable {
  bool anything = true;
  std::optional<FileState> looked_at{};  // without `anything`: this file, or, where it is none, no file at all
};
// Who may read an output. Lists of a person's files are that person's alone (mode 0600).
enum class Readers : std::uint8_t { everyone, owner };

// A name for a temporary file or folder that no other process, of whatever machine, makes: names in a folder that
// several machines share must not meet.
std::string unique_temporary_name();

// Written to a temporary name in the same folder, which is short whatever the file's own name is; commit() syncs,
// renames and syncs the folder. Without a commit, the temporary file is removed. Every failure throws Failure with the
// path.
class AtomicFile {
 public:
  // The prefix of temporary names. A run that is killed leaves its own where the file system has no files
  // without a name.
  static constexpr const char* kTemporaryPrefix = ".millrace-partial-";

  explicit AtomicFile(std::string path);
  // A file of a shard, which several runs may make, each the same. Its temporary file lies in the work folder, on the
  // same file system: nothing unfinished is ever where shards are put together. commit() throws Failure(conflict) where
  // another run has published that folder meanwhile. A file that is joined with others is not left in it then; another
  // one, which had no name before, is part of what was published.
  struct OfShard {
    std::string work_folder;
    bool is_joined = false;
  };
  AtomicFile(std::string path, const OfShard& shard);
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
  // Renames nothing but the file that was written: Failure(conflict) where its temporary name is another file's by
  // then.
  void commit();
  // The digest of all bytes that write() was given; only of a shard's file.
  FileDigest digest() const;

 private:
  void open_folder();
  void create_unique(Readers readers);
  void name_temporary();
  void flush();
  std::string name() const { return path_.substr(path_.find_last_of('/') + 1); }
  void put_in_place();
  void put_shard_in_place();
  bool folder_is_in_place() const;
  int temporary_folder() const { return work_folder_ ? work_folder_.get() : folder_.get(); }

  std::string path_, temporary_;  // the temporary one is a name in the temporary folder, empty while the file has none
  bool is_joined_ = false;
  Descriptor folder_, work_folder_;
  std::unique_ptr<RunningHash> hash_;  // of a shard's file
  std::uint64_t written_ = 0;
  Replaceable replaces_;
  std::string pending_;
  int fd_ = -1;
  bool synced_ = false;
};

// `text` as the whole of a file, in place of whatever has its name.
void write_file(const std::string& path, std::string_view text);
// All of the bytes to what is open; `path` is for the message of a Failure.
void write_all(int fd, std::string_view bytes, const std::string& path);

// The same without waiting for the disk: what a power cut takes away can be made again, and is recognized where it is
// cut.
void write_file_unsynced(const std::string& path, std::string_view text);

// All of a file on the disk. Throws Failure.
void sync_file(const std::string& path);
// The new name survives a power cut, as what has it does if that was synced before. Throws Failure.
void rename_file(const std::string& from, const std::string& to);
// Syncs a folder, so that names in it survive a power cut.
void sync_folder(const std::string& folder);

}  // namespace millrace
