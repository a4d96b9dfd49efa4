// Input: a part that a run has made, and who that is.
// Output: a file beside it that says so, with the number and a hash of its bytes; what such a file says.
// Never: decides what becomes of a part that is not as it was left.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/part_bytes.h"

namespace millrace {

struct PartRecord {
  std::uint64_t part = 0, rows = 0;
  std::vector<FileDigest> files;  // in the order of PartBytes
  std::string run;                // "3/16"
  // A hash of inode and change time of its input files, and the machine that saw them, as both are its own. 0:
  // not known.
  std::uint64_t inputs = 0;
  std::string host{};
};

// In a folder of parts.
std::string part_record_name(std::uint64_t part);
std::string json_of(const PartRecord& record);
// Nothing where no run has written it, or of another part.
std::optional<PartRecord> part_record(const std::string& path, std::uint64_t part);

// False where a part is not as its record in the folder says, or has none: its bytes are hashed; or where this machine
// has made it, and its inputs look otherwise since. A part that lies in the output has no bytes of its own, and passes.
// `go_on` is asked now and then, and may throw.
bool is_as_recorded(const PartBytes& bytes, const std::string& folder, std::uint64_t part, std::uint64_t inputs,
                    const std::function<void()>& go_on);
// The same by the hash.
bool has_recorded_hash(const PartBytes& bytes, const PartRecord& record, const std::function<void()>& go_on);

}  // namespace millrace
