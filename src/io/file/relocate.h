// Enters: files that shall stand under another name.
// Leaves: the same files there, or where they were and the reason.
// Never: overwrites anything; holds a file's only bytes in a place that a crash would lose.
//
// Every function can be cut off between any two of its system calls: what is left then is the file under the old name,
// under the new one, or under both, and at most a file under the temporary name that the caller chose and knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/base/error.h"

namespace millrace {

struct FileState {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t device = 0, inode = 0;
  std::uint32_t mode = 0, owner = 0, group = 0;  // mode: permission bits only
  std::uint64_t links = 1;
  bool regular = false;  // neither a folder nor a symbolic link
  bool link = false;     // a symbolic link, whatever it points to

  bool same_inode(const FileState& other) const { return device == other.device && inode == other.inode; }
  bool same_look(const FileState& other) const { return size == other.size && mtime_ns == other.mtime_ns; }
  bool same(const FileState& other) const { return regular && same_inode(other) && same_look(other); }
};

// Of the name itself, not of what a symbolic link points to.
Outcome<FileState> state_of(const std::string& path);
// True when the name is taken, by whatever it is; also when that cannot be told.
bool exists(const std::string& path);

// Renames within one file system; the error has the code conflict when the new name is taken, unsupported when it lies
// on another file system. Both folders are synced.
std::optional<Error> rename_new(const std::string& from, const std::string& to);

// A copy under a new name, synced, with the times, permissions and, where allowed, the owner of `like`; compared byte
// by byte with the original before it gets its name. It is made under `temporary` first, which is replaced.
std::optional<Error> copy_new(const std::string& from, const std::string& to, const std::string& temporary,
                              const FileState& like);
// The same in place of whatever file is called `to`.
std::optional<Error> copy_over(const std::string& from, const std::string& to, const std::string& temporary,
                               const FileState& like);

// Renames; across file systems copies, compares and removes the original.
std::optional<Error> move_new(const std::string& from, const std::string& to, const std::string& temporary);

// Makes `path` another name of `target`, whose bytes are the same: compared here. What was called `path` is never
// without a name before the comparison, and if it changed meanwhile it is put back. Error(conflict) when the bytes
// differ.
std::optional<Error> replace_by_link(const std::string& path, const std::string& target, const std::string& temporary);

// Gives a file the time and permissions of `like`.
std::optional<Error> set_look(const std::string& path, const FileState& like);

// Removes a name; no error when there is none.
std::optional<Error> remove_name(const std::string& path);

// For tests: called between system calls with the name of what comes next.
void set_step_hook(void (*hook)(const char* next));
void step(const char* next);

}  // namespace millrace
