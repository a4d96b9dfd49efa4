// Input: an open file, or a file's name in an open folder.
// Output: the number of its bytes, and a 64-bit hash of them.
// Guarantees: a symbolic link is not followed, and a named pipe does not block the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/io/file/running_hash.h"

namespace millrace {

// Size and hash of a file, of a range of a file, or of a folder. 64 bits detect damage, not intent.
struct FileDigest {
  std::string name;         // path relative to the folder that holds all of them
  std::uint64_t bytes = 0;  // for a folder: the total of its files
  std::uint64_t hash = 0;   // XXH3; for a folder: of the names, sizes and hashes of its files
  std::uint64_t at = 0;     // offset at which the range begins
  std::uint64_t files = 0;  // number of files in a folder; 0: it is a file

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

// Adds the first `bytes` of an open file to the hash; false if they cannot be read. `check_cancelled` is called now and
// then, and may throw.
bool hash_prefix(int file, std::uint64_t bytes, RunningHash& hash, const std::function<void()>& check_cancelled = {});
// Returns nullopt if the file is missing, is not a regular file, or cannot be read. `check_cancelled` is called now and
// then, and may throw.
std::optional<FileDigest> digest_of_file(int folder, const std::string& name,
                                         const std::function<void()>& check_cancelled = {});

}  // namespace millrace
