// Input: two files of one size.
// Output: the number of bytes that differ, if these are few: one of the files is then a damaged copy.
// Never: reads on once too many bytes differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millrace::dedupe {

// Returns nullopt for equal bytes, for many differing bytes, and for files that cannot be read.
std::optional<std::uint64_t> count_differing_bytes(const std::string& one, const std::string& other);

}  // namespace millrace::dedupe
