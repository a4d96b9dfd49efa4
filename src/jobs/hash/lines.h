// Input: a picture's hashes, or why it has none.
// Output: the line that says so, as a table, CSV or JSON.
// Never: says nothing of a file that could not be used.
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

// Without its end; empty where there is none.
std::string header_of(const Options& options);
std::string line_of(const Options& options, const Hashed& hashed);

}  // namespace millrace::hash
