// Input: paths of files, and new names for them.
// Output: the same files under the new names; or the files under their old names, and the reason.
// Never: overwrites a file except in *_over(); keeps a file's only bytes where a crash loses them; follows a link.
//
// Paths are those that `DirectoryEntry` accepts: resolved, with no symbolic link in them. If a state is expected, a
// file with another state is put back.
//
// A crash may interrupt every function between any two of its system calls. The file then has its old name, its new
// name, or both. At most one more file is left, under the temporary name that the caller chose and knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/error.h"
#include "src/io/file/directory_entry.h"

namespace millrace {

// Returns the state of the name itself, not of the target of a symbolic link.
Outcome<FileState> state_of(const std::string& path);
// Returns true if the name is taken, by any kind of file; also if that cannot be determined.
bool exists(const std::string& path);

// Renames a file within one file system and syncs both folders. The error is conflict if the new name is taken or the
// file is not the expected one. It is unsupported if the new name is on another file system.
Outcome<void> rename_new(const std::string& from, const std::string& to,
                         const std::optional<FileState>& expected = std::nullopt);

// Renames a file and replaces any file of the new name.
Outcome<void> rename_over(const std::string& from, const std::string& to);

// Writes a new file with these bytes and syncs it. The file gets the read and write permissions of `like` and, if
// allowed, its owner. The file is made under `temporary` first, which is replaced. Error(conflict) if the name is
// taken.
Outcome<void> write_new(const std::string& path, std::string_view bytes, const std::string& temporary,
                        const FileState& like);

// Copies a file to a new name, synced, with the given time. The copy gets the permissions that the original has now
// and, if allowed, its owner, but not set-user-id and set-group-id. The copy is made under `temporary` first, which is
// replaced. Its bytes are compared with the original before it gets its name.
Outcome<void> copy_new(const std::string& from, const std::string& to, const std::string& temporary,
                       std::int64_t mtime_ns);
// Copies in the same way, but replaces any file named `to`.
Outcome<void> copy_over(const std::string& from, const std::string& to, const std::string& temporary,
                        std::int64_t mtime_ns);

// Renames a file. Across file systems it copies the file, compares the copy and removes the original. The original has
// make_aside_path() for a moment, so that a file that has taken its name since is not removed.
Outcome<void> move_new(const std::string& from, const std::string& to, const std::string& temporary,
                       const std::optional<FileState>& expected = std::nullopt);

// Returns the path beside `from` with the last name of `temporary`.
std::string make_aside_path(const std::string& from, const std::string& temporary);

// Options of replace_by_link(). It makes `path` another name of `target` if the bytes of both are equal. The file that
// is linked is the one that was compared. The old file keeps a name until it was compared; if it changed meanwhile, it
// is put back. Error(conflict) if the bytes differ, or, unless `any_access`, owner, group, permissions or access list
// (POSIX ACL).
struct HardLinkOptions {
  bool any_access = false;
  std::optional<FileState> path{}, target{};  // expected states; empty: not checked
};
Outcome<void> replace_by_link(const std::string& path, const std::string& target, const std::string& temporary,
                              const HardLinkOptions& linking = {});

// Sets a file's time of last modification.
Outcome<void> set_mtime(const std::string& path, std::int64_t mtime_ns);

// Removes a name; no error if it does not exist. If a state is expected, another file is kept: Error(conflict).
Outcome<void> remove_name(const std::string& path, const std::optional<FileState>& expected = std::nullopt);
// Removes a file that is no longer needed. Failures are ignored.
void remove_unneeded_file(const std::string& path);

// Removes an empty folder; no error if it is not empty or does not exist.
void remove_empty_folder(const std::string& path);

// Returns true if owner, group, permissions and access list (POSIX ACL) of two files are equal. Error if one cannot be
// opened.
Outcome<bool> have_same_access(const std::string& a, const std::string& b);

// Hook for tests: called between system calls with the name of the next step.
void set_step_hook(void (*hook)(const char* next));
void call_step_hook(const char* next);

}  // namespace millrace
