// Input: the hashes of an image, or the reason why it has none.
// Output: its line in a table, CSV or JSON lines.
// Never: leaves out a file that could not be used.
#pragma once

#include <cstdint>
#include <string>

#include "src/io/image/fingerprint.h"
#include "src/jobs/hash/options.h"

namespace millrace::hash {

struct Hashed {
  std::string path;
  std::uint64_t bytes = 0;
  Outcome<Fingerprint> outcome = Error{};
};

// Returns the header without a line end; empty if the format has none.
std::string header_of(const Options& options);
std::string line_of(const Options& options, const Hashed& hashed);

}  // namespace millrace::hash
