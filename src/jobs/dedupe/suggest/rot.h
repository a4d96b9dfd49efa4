// Input: two files of one size.
// Output: in how many bytes they differ, where these are few: then one of them is a copy that was damaged.
// Never: it reads on where they are many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millrace::dedupe {

// Nothing for equal bytes, for many that differ, and for files that cannot be read.
std::optional<std::uint64_t> few_that_differ(const std::string& one, const std::string& other);

}  // namespace millrace::dedupe
