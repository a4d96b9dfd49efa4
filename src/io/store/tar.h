// Input: a name and the bytes of a file.
// Output: its record in a tar archive (POSIX ustar).
// Never: stores a time, an owner or any other property of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Appends a record: header, bytes, zeros up to a multiple of 512. A name has at most 100 bytes, a file less than 8 GB.
void append_tar_record(std::string_view name, std::string_view bytes, std::vector<std::uint8_t>& out);
// Returns the bytes that end an archive.
std::string tar_end();

}  // namespace millrace
