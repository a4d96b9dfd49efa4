// Input: a file, open or by its name in a folder.
// Output: how many bytes it has, and a 64-bit hash of them.
// Guarantees: a link is not followed, and a pipe is not waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/io/file/running_hash.h"

namespace millrace {

// The contents of a file, a range of one, or a folder. 64 bits find damage, not intent.
struct FileDigest {
  std::string name;         // where it lies in the folder of all of them
  std::uint64_t bytes = 0;  // of a folder: of all its files
  std::uint64_t hash = 0;   // XXH3; of a folder: of the names, sizes and hashes of its files
  std::uint64_t at = 0;     // where the range begins
  std::uint64_t files = 0;  // in a folder; 0: it is a file

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

// Adds the first `bytes` of an open file; false where they cannot be read. `go_on` is asked now and then, and may
// throw.
bool hash_beginning(int file, std::uint64_t bytes, RunningHash& hash, const std::function<void()>& go_on = {});
// nullopt where it is missing, is not a regular file, or cannot be read. `go_on` is asked now and then, and may
// throw.
std::optional<FileDigest> digest_of_file(int folder, const std::string& name, const std::function<void()>& go_on = {});

}  // namespace millrace
