// Input: names, sizes and hashes of the files of a finished output.
// Output: this list as JSON for run.json or a Zarr group's attributes; and the files that no longer match it.
// Guarantees: no name in the list leads outside of the output.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/file_digest.h"

namespace millrace {

inline constexpr const char* kChecksums = "checksums";
// Returns the number that hexadecimal digits represent; nullopt if the text has other characters.
std::optional<std::uint64_t> parse_hex(const std::string& digits);

// Returns [["images.npy", 128, 4096, "0123456789abcdef"], ...]: name, offset of the range, bytes, XXH3; for a folder
// also the number of its files. A name that is not UTF-8 is {"base64": ...}.
std::string json_of(std::span<const FileDigest> files);
// Returns the list with room in front for the checksum of the file that contains it: {"self": "0123456789abcdef"}.
std::string json_with_self_checksum(std::span<const FileDigest> files);
// Returns the text of that file with its checksum, which is computed with zeros in its place.
std::string add_self_checksum(std::string text);
// Returns true if a text is as it was written; nullopt if it has no checksum of its own.
std::optional<bool> verify_self_checksum(std::string text);
// Returns nullopt if the text is not one of json_of(), or a name leads outside.
std::optional<std::vector<FileDigest>> parse_checksums(std::string_view json);

// Returns the names of files that are missing or shorter than their ranges; it checks only sizes.
std::vector<std::string> find_missing_or_short(const std::string& folder, std::span<const FileDigest> files);

struct ChecksumResult {
  std::uint64_t files = 0, bytes = 0;
  std::vector<std::string> damaged;  // names of files that are missing or hold something else
};
// Reads all listed files of the folder. `check_cancelled` is called now and then, and may throw.
ChecksumResult verify_checksums(const std::string& folder, std::span<const FileDigest> files,
                                const std::function<void()>& check_cancelled);

}  // namespace millrace
