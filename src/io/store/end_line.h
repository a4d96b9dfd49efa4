// Input: a finished file whose format states where the file ends, as HDF5 does; readers ignore bytes after that.
// Output: a last line with the number and XXH3 of the bytes before it; a change by the file's library cuts it off.
// Never: trusts a line that is not at the offset that it states.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/io/file/file_digest.h"
#include "src/io/file/running_hash.h"

namespace millrace {

struct EndLine {
  std::uint64_t bytes = 0, hash = 0;  // number and XXH3 of all bytes before the line
  // Number of files that this one maps, and a hash of their end lines in order.
  std::uint64_t parts = 0, hash_of_shards = 0;

  class MappedShards {
   public:
    void add(const EndLine& line);
    std::uint64_t count() const { return count_; }
    std::uint64_t hash() const { return count_ == 0 ? 0 : hash_.digest(); }

   private:
    std::uint64_t count_ = 0;
    RunningHash hash_;
  };
};

// Appends the line and returns the digest of the file with it; throws Failure. `path` is for messages.
// `check_cancelled` is called now and then, and may throw.
FileDigest write_end_line(int file, const std::string& path, const EndLine::MappedShards& parts,
                          const std::function<void()>& check_cancelled);
// Returns nullopt if there is no line, or the file is not a regular one.
std::optional<EndLine> read_end_line(const std::string& path);
// Returns true if the file still has the bytes that its line describes. `check_cancelled` is called now and then, and
// may throw.
bool verify_end_line(const std::string& path, const EndLine& line, const std::function<void()>& check_cancelled);

}  // namespace millrace
