// Input: what the files of a finished output hold.
// Output: the same as JSON in run.json, or in a Zarr group's attributes; and which files are not so any more.
// Guarantees: names in it lead to no place outside of the output.
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
// The number that hexadecimal digits stand for.
std::optional<std::uint64_t> number_from_hex(const std::string& digits);

// [["images.npy", 128, 4096, "0123456789abcdef"], ...]: name, where the range begins, bytes, XXH3; of a folder the
// number of its files behind that. A name that is no UTF-8 is {"base64": ...}.
std::string json_of(std::span<const FileDigest> files);
// The list with room for the checksum of the file that it goes into, {"self": "0123456789abcdef"}, in front.
std::string json_with_own(std::span<const FileDigest> files);
// The text of that file with its checksum: of the text with zeros in that place.
std::string with_own_checksum(std::string text);
// True where a text is as it was written; nullopt where it has no checksum of its own.
std::optional<bool> has_own_checksum(std::string text);
// nullopt where it is not what json_of() makes, or a name leads outside.
std::optional<std::vector<FileDigest>> checksums_in(std::string_view json);

// Names of files that are missing or shorter than their ranges; only sizes are looked at.
std::vector<std::string> missing_or_cut(const std::string& folder, std::span<const FileDigest> files);

struct Checked {
  std::uint64_t files = 0, bytes = 0;
  std::vector<std::string> damaged;  // names of those that hold something else, or are missing
};
// Reads all that they name in the folder. `go_on` is asked now and then, and may throw.
Checked check_files(const std::string& folder, std::span<const FileDigest> files, const std::function<void()>& go_on);

}  // namespace millrace
