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
// number of its files behind that.
std::string json_of(std::span<const FileDigest> files);
// nullopt where it is not what json_of() makes, or a name leads outside.
std::optional<std::vector<FileDigest>> checksums_in(std::string_view json);

struct Checked {
  std::uint64_t files = 0, bytes = 0;
  std::vector<std::string> damaged;  // names of those that hold something else, or are missing
};
// Reads all that they name in the folder. `go_on` is asked now and then, and may throw.
Checked check_files(const std::string& folder, std::span<const FileDigest> files, const std::function<void()>& go_on);

}  // namespace millrace
