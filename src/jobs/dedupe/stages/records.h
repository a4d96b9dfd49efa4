// Input: what reading a file or looking at pictures has brought, or lines that say so, which may be anybody's.
// Output: the same as a line of JSON; from such a line, what reading or looking would have brought.
// Never: believes in a number that no picture can have.
//
// {"path": ..., "bytes": ..., "mtime_ns": "...", "content": "32 hex digits", "picture": {...}}; a file that is no
// picture has "failed" for "picture", and one that could not be read "error" for both and no content.
#pragma once

#include <optional>
#include <string>

#include "src/jobs/dedupe/scan/reading.h"

namespace millrace::dedupe {

// Of a stage's folder: an attribute of every such, and its lines.
inline constexpr const char *kReadMark = "dedupe-read", *kReadLines = "read.jsonl";
inline constexpr const char *kLookMark = "dedupe-look", *kLookLines = "looks.jsonl";

struct FileRecord {
  FileEntry entry;  // path, size and time
  Read read;
};

std::string line_of(const FileEntry& entry, const Read& read);
// Nothing where line_of() has not written it.
std::optional<FileRecord> file_record(const std::string& line);

// {"a": content, "b": content, "version": N, "verdict": base64}.
std::string line_of(const CatalogCloseLook& look);
// Nothing where line_of() has not written it.
std::optional<CatalogCloseLook> look_record(const std::string& line);

// No run writes a longer one: a thumbnail in base64 and what a camera wrote; a path of the system's longest, twice.
inline constexpr std::size_t kLongestLine = 1 << 17;

}  // namespace millrace::dedupe
