// Input: the result of reading a file or of a detailed check; or an untrusted line that claims such a result.
// Output: the result as a line of JSON; or the result that such a line holds.
// Never: accepts a number that no picture can have.
//
// A line is {"path": ..., "bytes": ..., "mtime_ns": "...", "content": "32 hex digits", "picture": {...}}. A file that
// is not a picture has "failed" instead of "picture". A file that could not be read has "error" instead of both, and no
// content.
#pragma once

#include <optional>
#include <string>

#include "src/jobs/dedupe/scan/picture_reader.h"

namespace millrace::dedupe {

// Attributes that every folder of the two stages has, and the names of their lines.
inline constexpr const char *kReadMark = "dedupe-read", *kReadLines = "read.jsonl";
inline constexpr const char *kCheckMark = "dedupe-look", *kCheckLines = "looks.jsonl";

struct FileRecord {
  FileEntry entry;  // path, size and time
  FileReadResult read;
};

std::string format_line(const FileEntry& entry, const FileReadResult& read);
// Returns nullopt for a line that format_line() cannot have written.
std::optional<FileRecord> parse_file_record(const std::string& line);

// Returns {"a": content, "b": content, "version": N, "verdict": base64} as a line.
std::string format_line(const CatalogComparison& comparison);
// Returns nullopt for a line that format_line() cannot have written.
std::optional<CatalogComparison> parse_check_record(const std::string& line);

// Longest line that a run writes: a thumbnail in base64 and the EXIF texts, and twice the longest path of the system.
inline constexpr std::size_t kMaxLineBytes = 1 << 17;

}  // namespace millrace::dedupe
