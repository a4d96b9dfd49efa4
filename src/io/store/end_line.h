// Input: a finished file of a format whose head says where it ends, as HDF5's does; what stands behind is not read.
// Output: one more line there, which tells how many bytes stand before it, and their XXH3. A program that changes the
//   file by its library cuts the line off.
// Never: believes a line that does not stand where it says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/io/file/file_digest.h"
#include "src/io/file/running_hash.h"

namespace millrace {

struct EndLine {
  std::uint64_t bytes = 0, hash = 0;  // of all that stands before it
  // Files that this one maps, and a hash over their lines in their order.
  std::uint64_t parts = 0, hash_of_parts = 0;

  class Parts {
   public:
    void add(const EndLine& line);
    std::uint64_t count() const { return count_; }
    std::uint64_t hash() const { return count_ == 0 ? 0 : hash_.digest(); }

   private:
    std::uint64_t count_ = 0;
    RunningHash hash_;
  };
};

// Throws Failure. Gives the digest of the file with the line; `path` is for messages. `go_on` is asked now and then,
// and may throw.
FileDigest write_end_line(int file, const std::string& path, const EndLine::Parts& parts,
                          const std::function<void()>& go_on);
// nullopt where there is none, or the file is no regular one.
std::optional<EndLine> read_end_line(const std::string& path);
// True where the file still holds what its line says. `go_on` is asked now and then, and may throw.
bool is_as_told(const std::string& path, const EndLine& line, const std::function<void()>& go_on);

}  // namespace millrace
