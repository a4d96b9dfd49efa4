// Input: files that were found below folders; or a list of them, which may be anybody's.
// Output: the list as lines of JSON, the same for the same files; from such lines, the files as they were found.
// Never: looks whether they are still there: who reads one does.
//
// The first line is {"millrace": "inventory", "files": N, "unreadable": M, "bytes": B, "identity": "..."}; then come
// {"path": ..., "bytes": ..., "mtime_ns": "..."}, with "path_base64" where the path is no UTF-8, by their paths; then
// {"path": ..., "error": ..., "remedy": ...} for folders and files that could not be looked at.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/io/file/walk.h"
#include "src/jobs/folder_options.h"

namespace millrace {

// 128 bits in hex over paths, sizes and times, and what was unreadable: of the same list, the same.
std::string identity_of(std::span<const FileEntry> files, std::span<const Error> unreadable);

// In pieces that are whole lines.
void write_inventory(const WalkResult& found, const std::function<void(std::string_view)>& write);

// Failure(usage) where a person says how folders are walked, beside a list: nothing is walked then.
void refuse_walking(const FolderOptions& options);

// Without device, inode and links. Error(bad_data) where it is no inventory, or not as it was written.
Outcome<WalkResult> read_inventory(const std::string& path);

}  // namespace millrace
