// Input: the bytes and the path of an output file.
// Output: the complete file under its name, or the previous file untouched.
// Never: leaves a partial file under the output's name.
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
#include "src/io/file/directory_entry.h"
#include "src/io/file/file_digest.h"
#include "src/io/file/running_hash.h"

namespace millrace {

// Files that an output may replace: any file of its name, or only the file that was examined before.
struct OverwritePolicy {
  bool any_file = true;
  std::optional<FileState> examined{};  // if not `anything`: the only file to replace; empty: none may be there
};
// Users who may read an output. Only the owner may read lists of a person's files (mode 0600).
enum class ReadAccess : std::uint8_t { everyone, owner };

// Returns a name for a temporary file or folder that no other process on any machine makes: several machines may share
// the folder.
std::string unique_temporary_name();

// File that is written under a temporary name in the same folder. The temporary name is short however long the file's
// own name is. commit() syncs the file, renames it and syncs the folder. Without a commit, the temporary file is
// removed. Every failure throws Failure with the path.
class AtomicFile {
 public:
  // Prefix of temporary names. A run that is killed leaves its temporary file if the file system has no files without a
  // name.
  static constexpr const char* kTemporaryPrefix = ".millrace-partial-";

  explicit AtomicFile(std::string path);
  // File of a shard. Several runs may make it, each with the same bytes. Its temporary file is in the work folder, on
  // the same file system. The folder where shards are merged never has a temporary file. commit() throws
  // Failure(conflict) if another run has published that folder meanwhile. A file that is to be joined with others is
  // then removed from the folder. Any other new file is kept as part of the published output.
  struct ShardOptions {
    std::string work_folder;
    bool is_joined = false;
  };
  AtomicFile(std::string path, const ShardOptions& shard);
  // commit() throws Failure(conflict) if the name belongs by then to a file that `replaces` does not allow. That file
  // is kept.
  AtomicFile(std::string path, OverwritePolicy replaces, ReadAccess readers);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // Writes at an offset, which may be beyond the end; write() continues at its own position.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Writes all bytes to the disk before the rename, so that several files can be complete before the first has its
  // name.
  void sync();
  // Renames only the file that was written: Failure(conflict) if its temporary name belongs to another file by then.
  void commit();
  // Returns the digest of all bytes that write() received; for a shard's file only.
  FileDigest digest() const;

 private:
  void open_folder();
  void create_unique(ReadAccess readers);
  void name_temporary();
  void flush();
  std::string name() const { return path_.substr(path_.find_last_of('/') + 1); }
  void publish();
  void publish_shard();
  bool is_folder_published() const;
  int temporary_folder() const { return work_folder_ ? work_folder_.get() : folder_.get(); }

  std::string path_, temporary_;  // temporary_: name in the temporary folder, empty while the file has none
  bool is_joined_ = false;
  Descriptor folder_, work_folder_;
  std::unique_ptr<RunningHash> hash_;  // only for a shard's file
  std::uint64_t written_ = 0;
  OverwritePolicy replaces_;
  std::string pending_;
  int fd_ = -1;
  bool synced_ = false;
};

// Writes `text` as the whole content of a file and replaces any file of that name.
void write_file(const std::string& path, std::string_view text);
// Writes all bytes to an open file; `path` is for the message of a Failure.
void write_all(int fd, std::string_view bytes, const std::string& path);

// Writes a file like write_file(), but does not wait for the disk. For files that can be made again, and whose
// truncation by a power cut is detected.
void write_file_unsynced(const std::string& path, std::string_view text);

// Writes all data of a file to the disk. Throws Failure.
void sync_file(const std::string& path);
// Renames a file and syncs the folder. The new name survives a power cut; so do the contents if they were synced
// before. Throws Failure.
void rename_file(const std::string& from, const std::string& to);
// Syncs a folder, so that names in it survive a power cut.
void sync_folder(const std::string& folder);

}  // namespace millrace
