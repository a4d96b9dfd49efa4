// Input: a resolved path, so that no folder in it is a symbolic link.
// Output: the folder's descriptor and the name in it, valid even if a folder above is renamed or exchanged.
// Never: follows a symbolic link, in a folder of the path or as its last name.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>

#include "src/base/error.h"

namespace millrace {

// Returns a file time in nanoseconds since 1970. Times that do not fit, before 1677 and after 2262, become the nearest
// that fits.
std::int64_t nanoseconds_of(const timespec& time);

// State of a file: the fields that identify it, and those that show whether it was written to.
struct FileState {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  std::uint64_t device = 0, inode = 0;
  std::uint32_t mode = 0, owner = 0, group = 0;  // mode: permission bits only
  std::uint64_t links = 1;
  bool regular = false;  // neither a folder, a symbolic link, a pipe nor a device
  bool folder = false;
  bool link = false;  // a symbolic link, whatever it points to

  bool has_same_inode(const FileState& other) const { return device == other.device && inode == other.inode; }
  bool has_same_size_and_time(const FileState& other) const { return size == other.size && mtime_ns == other.mtime_ns; }
  bool same(const FileState& other) const { return regular && has_same_inode(other) && has_same_size_and_time(other); }
};

// Owns a file descriptor and closes it in the destructor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  int release();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Returns the state of an open file; nullopt with errno if there is none.
std::optional<FileState> state_of_descriptor(int fd);
// Returns the state of a name in a folder; a symbolic link is not followed.
std::optional<FileState> state_of_name(int folder, const std::string& name);

class DirectoryEntry {
 public:
  // Error(conflict) if a folder of the path is a symbolic link, (not_found) if it does not exist. The last name may be
  // any kind of file or be free, but not "." or "..".
  static Outcome<DirectoryEntry> make(const std::string& path);

  const std::string& path() const { return path_; }
  int folder() const { return folder_.get(); }
  const char* name() const { return path_.c_str() + name_; }

  // Returns the state of the name itself, not of the target of a symbolic link.
  Outcome<FileState> state() const;
  // Returns true if the name is taken, by any kind of file; also if that cannot be determined.
  bool exists() const;
  // Opens a regular file for reading; never blocks on a named pipe.
  Outcome<Descriptor> open() const;
  // Returns 0, or errno.
  int unlink() const;
  // Syncs the folder: changes to its names survive a power cut.
  void sync_folder() const;

 private:
  DirectoryEntry(std::string path, std::size_t name, Descriptor folder)
      : path_(std::move(path)), name_(name), folder_(std::move(folder)) {}

  std::string path_;
  std::size_t name_;  // offset in path_ at which the name begins
  Descriptor folder_;
};

// Moves a name of one folder to a free name of another: 0, or errno, EEXIST if the new name is taken. Some network and
// FUSE file systems cannot refuse to replace. There the file gets a second name and loses the first (`between` is
// called between the two). If a second name is impossible too, the new name is checked before the rename.
int rename_new(int from_folder, const char* from, int to_folder, const char* to,
               const std::function<void()>& between = {});
// Moves a name over the file `examined` and no other. 0: the old file has the name `from` now, or is gone if the file
// system cannot exchange names. EEXIST: another file has the name, and keeps it. `lost` is set if that file could not
// be given back its name; it then has the name `from`.
int rename_over(int from_folder, const char* from, int to_folder, const char* to, const FileState& examined,
                bool& lost);

// Opens a folder without following a link. Errors are those of DirectoryEntry::make().
Outcome<Descriptor> open_folder(const std::string& path);

// Makes the missing folders of a path, each with this mode, and follows no link.
Outcome<void> make_folders_no_follow(const std::string& folder, unsigned mode = 0777);

}  // namespace millrace
