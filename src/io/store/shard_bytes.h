// Input: the files, ranges of files and folders that hold the bytes of a shard.
// Output: the number of these bytes, and their hash; the result of a comparison with another shard.
// Never: interprets the bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/file/file_digest.h"

namespace millrace {

// A file, or the shard's range of it; or a folder of files.
struct FileRange {
  std::string path;
  std::uint64_t at = 0;
  std::optional<std::uint64_t> count{};  // empty: to the end of the file
  bool is_folder = false;
  std::string name{};  // path relative to the folder that holds all of them; empty: the last name of `path`
};
using ShardBytes = std::vector<FileRange>;

// Lists the files in a folder and below it, named relative to it. Empty if the folder is missing, or is a link.
ShardBytes files_of(const std::string& folder);

// Returns the bytes of the files that exist. All functions here throw Failure if a file cannot be examined.
std::uint64_t size_of(const ShardBytes& bytes);
// Returns the 64-bit XXH3 of the names, sizes and hashes of files, in their order.
std::uint64_t hash_of(std::span<const FileDigest> files);
// Returns the digest of a folder, computed from the digests of its files.
FileDigest digest_of_folder(std::string name, std::span<const FileDigest> files);
// Reads and hashes the bytes. `check_cancelled` is called now and then, and may throw.
std::vector<FileDigest> digests_of(const ShardBytes& bytes, const std::function<void()>& check_cancelled);
std::uint64_t hash_of(const ShardBytes& bytes, const std::function<void()>& check_cancelled);
// Returns true if both have the same names and the same bytes.
bool have_same_bytes(const ShardBytes& a, const ShardBytes& b, const std::function<void()>& check_cancelled);

}  // namespace millrace
