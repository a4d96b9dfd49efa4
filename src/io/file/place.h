// Input: a path that was resolved before, so that no folder in it is a symbolic link.
// Output: the folder as a descriptor, and the name in it: what is done with them is done there, whoever renames or
//   exchanges a folder above meanwhile.
// Never: follows a symbolic link, in a folder of the path or as its last name.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>

#include "src/base/error.h"

namespace millrace {

// A time of a file in nanoseconds since 1970. Times that do not fit, before 1677 and after 2262, are the nearest that
// does.
std::int64_t nanoseconds_of(const timespec& time);

// How a file looks: what tells it from another one, and whether it was written to.
struct FileState {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  std::uint64_t device = 0, inode = 0;
  std::uint32_t mode = 0, owner = 0, group = 0;  // mode: permission bits only
  std::uint64_t links = 1;
  bool regular = false;  // neither a folder nor a symbolic link
  bool folder = false;
  bool link = false;  // a symbolic link, whatever it points to

  bool same_inode(const FileState& other) const { return device == other.device && inode == other.inode; }
  bool same_size_and_time(const FileState& other) const { return size == other.size && mtime_ns == other.mtime_ns; }
  bool same(const FileState& other) const { return regular && same_inode(other) && same_size_and_time(other); }
};

// A descriptor of our own, closed when it goes.
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

// The look of what is open; errno tells when there is none.
std::optional<FileState> state_of_descriptor(int fd);
// The state of a name in a folder; a link is not followed.
std::optional<FileState> state_of_name(int folder, const std::string& name);

class Place {
 public:
  // Error(conflict) when a folder of the path is a symbolic link, (not_found) when it is not there. The last name may
  // be anything, or nothing; it is neither "." nor "..".
  static Outcome<Place> of(const std::string& path);

  const std::string& path() const { return path_; }
  int folder() const { return folder_.get(); }
  const char* name() const { return path_.c_str() + name_; }

  // Of the name itself, not of what a symbolic link points to.
  Outcome<FileState> state() const;
  // True when the name is taken, by whatever it is; also when that cannot be told.
  bool taken() const;
  // A regular file, for reading; never waits for a pipe.
  Outcome<Descriptor> open() const;
  // 0, or errno.
  int unlink() const;
  // What names in the folder survive a power cut.
  void sync_folder() const;

 private:
  Place(std::string path, std::size_t name, Descriptor folder)
      : path_(std::move(path)), name_(name), folder_(std::move(folder)) {}

  std::string path_;
  std::size_t name_;  // where it begins
  Descriptor folder_;
};

// A name of one folder moves to another's, which has nothing under it: 0, or errno, EEXIST where it is taken. Some
// network and FUSE file systems cannot refuse to replace; there a file gets a second name and loses the first
// (`between` is called between the two), and for what can have none nothing is left but to look first.
int rename_new(int from_folder, const char* from, int to_folder, const char* to,
               const std::function<void()>& between = {});
// The same over what was looked at, and nothing else: 0, and what was there has the name `from` now, or is gone, where
// the file system exchanges no names; EEXIST where something else has the name, which keeps it. `lost` is set where
// that could not be given back its name, and has `from`.
int rename_over(int from_folder, const char* from, int to_folder, const char* to, const FileState& looked_at,
                bool& lost);

// The folder itself, found without following a link. Error as of Place::of().
Outcome<Descriptor> open_folder(const std::string& path);

// Makes what is missing of a folder's path, each with this mode, and follows no link.
Outcome<void> make_folders_in_place(const std::string& folder, unsigned mode = 0777);

}  // namespace millrace
