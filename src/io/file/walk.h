// Input: files and folders that a person named.
// Output: every file below them, in an order that depends on names alone, not on the order in which they were named.
// Never: follows a loop, or stops at a folder that cannot be read.
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
  std::string path;  // bytes: as named, with "/" and names appended
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t device = 0, inode = 0;  // tell hard links of one file; they change between mounts
  std::uint64_t links = 1;
  std::int64_t ctime_ns = 0;  // 0: not known, as of one that a list names
};

// A hash of the inodes and change times of files. 0 where one of them was not examined.
std::uint64_t state_hash(std::span<const FileEntry> files);

// No picture is larger; a file that says so is one of nothing, or grows without end.
inline constexpr Bytes kMostFileBytes = 64_GiB;
// Why a file is not read at all; nothing where it is.
std::optional<std::string> too_large_to_read(const FileEntry& file, Bytes most);

struct WalkOptions {
  bool hidden = false;  // also names that begin with a dot
  // Also what symbolic links inside a folder point to, unless it lies in the folders and so has a name already.
  bool follow_symlinks = false;
  // Where a name says what a file is: a link that is followed gives what it leads to a name of its own, whatever other
  // names that has. But for folders that the link itself lies in.
  bool each_link = false;
  // Links are followed to other file systems than those of the roots too. What /proc and /sys hold is never entered,
  // but for a root that lies there.
  bool cross_file_systems = false;
  std::vector<std::string> exclude;  // glob patterns (src/base/text.h); a folder that matches is not entered
  std::function<bool()> cancelled;
};

struct WalkResult {
  std::vector<FileEntry> files;    // sorted by path bytes, each path once
  std::vector<Error> unreadable;   // folders and files that could not be examined
  std::vector<std::string> links;  // symbolic links that were not to be followed, by path
};

// A named root that does not exist is an Error in `unreadable`. A named file is taken whatever its name is.
WalkResult walk(std::vector<std::string> roots, const WalkOptions& options);

}  // namespace millrace
