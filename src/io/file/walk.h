// Input: files and folders that the user named.
// Output: every file below them, in an order that depends on the names alone, not on the order of the arguments.
// Never: follows a loop of links, or stops at a folder that cannot be read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/sizes.h"

namespace millrace {

struct FileEntry {
  std::string path;  // bytes: the path as named, with "/" and names appended
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t device = 0, inode = 0;  // identify hard links of one file; they change between mounts
  std::uint64_t links = 1;
  std::int64_t ctime_ns = 0;  // 0: not known, as for a file that a list names
};

// Returns a hash of the inodes and change times of files; 0 if one of them was not examined.
std::uint64_t hash_file_states(std::span<const FileEntry> files);

// Largest size of an input file. No picture is larger: a larger file is sparse, or grows without end.
inline constexpr Bytes kMaxFileBytes = 64_GiB;
// Returns the reason why a file is not read at all; nullopt if it is read.
std::optional<std::string> check_file_size(const FileEntry& file, Bytes most);

struct WalkOptions {
  bool hidden = false;  // also names that begin with a dot
  // Also targets of symbolic links inside a folder, unless a target is in the folders and so has a name already.
  bool follow_symlinks = false;
  // Set for inputs whose names state what a file is. A link that is followed gives its target a name of its own,
  // whatever other names the target has. Links to a folder that contains the link are not followed.
  bool each_link = false;
  // Links are also followed to file systems other than those of the roots. /proc and /sys are never entered, except for
  // a root in them.
  bool cross_file_systems = false;
  std::vector<std::string> exclude;  // glob patterns (src/base/text.h); a folder that matches is not entered
  std::function<bool()> cancelled;
};

struct WalkResult {
  std::vector<FileEntry> files;    // sorted by path bytes, each path once
  std::vector<Error> unreadable;   // folders and files that could not be examined
  std::vector<std::string> links;  // symbolic links that were not followed, sorted by path
};

// A named root that does not exist becomes an Error in `unreadable`. A named file is listed whatever its name is.
WalkResult walk(std::vector<std::string> roots, const WalkOptions& options);

}  // namespace millrace
