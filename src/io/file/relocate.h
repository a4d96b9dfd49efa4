// Input: files that shall stand under another name.
// Output: the same files there, or where they were and the reason.
// Never: overwrites anything; holds a file's only bytes in a place that a crash would lose; follows a symbolic link.
//
// Paths are as Place takes them: resolved before, with no link in them. Where a state is expected, a file that is
// another one by then is put back.
//
// Every function can be cut off between any two of its system calls: what is left then is the file under the old name,
// under the new one, or under both, and at most a file under the temporary name that the caller chose and knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/error.h"
#include "src/io/file/place.h"

namespace millrace {

// Of the name itself, not of what a symbolic link points to.
Outcome<FileState> state_of(const std::string& path);
// True when the name is taken, by whatever it is; also when that cannot be told.
bool exists(const std::string& path);

// Renames within one file system; the error has the code conflict when the new name is taken or the file is not the one
// that was expected, unsupported when the new name lies on another file system. Both folders are synced.
Outcome<void> rename_new(const std::string& from, const std::string& to,
                         const std::optional<FileState>& expected = std::nullopt);

// Renames over whatever file has the name.
Outcome<void> rename_over(const std::string& from, const std::string& to);

// A file of these bytes under a new name, synced, with the permissions to read and write of the file `like` and, where
// allowed, its owner; it is made under `temporary` first, which is replaced. Error(conflict) when the name is taken.
Outcome<void> write_new(const std::string& path, std::string_view bytes, const std::string& temporary,
                        const FileState& like);

// A copy under a new name, synced, with the time given, and the permissions and, where allowed, the owner that the
// original has now; set-user-id and set-group-id are not carried over. Compared byte by byte with the original before
// it gets its name. It is made under `temporary` first, which is replaced.
Outcome<void> copy_new(const std::string& from, const std::string& to, const std::string& temporary,
                       std::int64_t mtime_ns);
// The same in place of whatever file is called `to`.
Outcome<void> copy_over(const std::string& from, const std::string& to, const std::string& temporary,
                        std::int64_t mtime_ns);

// Renames; across file systems copies, compares and removes the original, which has leaving_name() for a moment: what
// has taken its name since is not removed.
Outcome<void> move_new(const std::string& from, const std::string& to, const std::string& temporary,
                       const std::optional<FileState>& expected = std::nullopt);

// Beside `from`, with the last name of `temporary`.
std::string leaving_name(const std::string& from, const std::string& temporary);

// Makes `path` another name of `target`, whose bytes are the same: compared here, and the file that was compared is the
// one that is linked. What was called `path` is never without a name before the comparison, and if it changed meanwhile
// it is put back. Error(conflict) when the bytes differ, or, unless `any_access`, owner, group, permissions or access
// list (POSIX ACL).
struct Linking {
  bool any_access = false;
  std::optional<FileState> path{}, target{};  // as they are expected to be
};
Outcome<void> replace_by_link(const std::string& path, const std::string& target, const std::string& temporary,
                              const Linking& linking = {});

// Gives a file this time of last change.
Outcome<void> set_time(const std::string& path, std::int64_t mtime_ns);

// Removes a name; no error when there is none. Where a state is expected, another file stays: Error(conflict).
Outcome<void> remove_name(const std::string& path, const std::optional<FileState>& expected = std::nullopt);
// What nobody needs any more: where it cannot go, it stays, and nothing is said.
void remove_left_over(const std::string& path);

// Removes a folder that is empty; no error for one that is not, or is not there.
void remove_empty_folder(const std::string& path);

// Owner, group, permissions and access list (POSIX ACL) of two files are the same. Error when that cannot be told.
Outcome<bool> same_access(const std::string& a, const std::string& b);

// For tests: called between system calls with the name of what comes next.
void set_step_hook(void (*hook)(const char* next));
void step(const char* next);

}  // namespace millrace
