// Input: files that were found below folders, or an inventory, which may come from an untrusted source.
// Output: the inventory as JSON lines, identical for identical files; or the files that an inventory lists.
// Never: checks that listed files still exist: the reader of a file does.
//
// The first line is {"millrace": "inventory", "files": N, "unreadable": M, "bytes": B, "identity": "..."}. Then follow
// lines {"path": ..., "bytes": ..., "mtime_ns": "..."}, sorted by path, with "path_base64" if the path is not UTF-8.
// The last lines are {"path": ..., "error": ..., "remedy": ...} for folders and files that could not be read.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/io/file/walk.h"
#include "src/jobs/folder_options.h"

namespace millrace {

// Returns a hash of 128 bits, in hex, of paths, sizes, times and unreadable entries: equal lists have equal hashes.
std::string identity_of(std::span<const FileEntry> files, std::span<const Error> unreadable);

// Passes the inventory to `write` as strings of whole lines.
void write_inventory(const WalkResult& found, const std::function<void(std::string_view)>& write);

// Throws Failure(usage) if options for walking folders are given together with an inventory: nothing is walked then.
void refuse_walking(const FolderOptions& options);

// Returns the listed files, without device, inode and links. Gives Error(bad_data) if the file is not an inventory, or
// was changed after it was written.
Outcome<WalkResult> read_inventory(const std::string& path);

}  // namespace millrace
