// Input: where the bytes of a part lie.
// Output: how many they are, and a hash of them; whether they are those of another.
// Never: knows what they mean.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/file/file_digest.h"

namespace millrace {

// A file, or what of it is the part's; or a folder of files.
struct FileBytes {
  std::string path;
  std::uint64_t at = 0;
  std::optional<std::uint64_t> count{};  // nothing: to its end
  bool is_folder = false;
  std::string name{};  // where it lies in the folder of all of them; empty: its last name
};
using PartBytes = std::vector<FileBytes>;

// The files in a folder and in those below it, by their names in it; none of one that is not there, or is a link.
PartBytes files_of(const std::string& folder);

// That are there. All of these throw Failure where a file cannot be looked at.
std::uint64_t size_of(const PartBytes& bytes);
// XXH3, 64 bits, of the names, sizes and hashes of files, in their order.
std::uint64_t hash_of(std::span<const FileDigest> files);
// A folder by what its files hold.
FileDigest digest_of_folder(std::string name, std::span<const FileDigest> files);
// Reads and hashes. `go_on` is asked now and then, and may throw.
std::vector<FileDigest> digests_of(const PartBytes& bytes, const std::function<void()>& go_on);
std::uint64_t hash_of(const PartBytes& bytes, const std::function<void()>& go_on);
// Of the same names, and byte by byte the same.
bool same_bytes(const PartBytes& a, const PartBytes& b, const std::function<void()>& go_on);

}  // namespace millrace
