// Input: the hashes of an image, or the reason why it has none.
// Output: its line in a table, CSV or JSON lines.
// Never: leaves out a file that could not be used.
#pragma once

#include <cstdint>
#include <string>

#include "src/io/image/fingerprint.h"
#include "src/jobs/hash/options.h"

namespace millrace::hash {

struct HashedFile {
  std::string path;
  std::uint64_t bytes = 0;
  Outcome<PictureFingerprint> outcome = Error{};
};

// Returns the header without a line end; empty if the format has none.
std::string format_header(const HashJobOptions& options);
std::string format_line(const HashJobOptions& options, const HashedFile& hashed);

}  // namespace millrace::hash
