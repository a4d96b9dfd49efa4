// Input: a name and the bytes of a file.
// Output: its record in a tar archive (POSIX ustar).
// Never: keeps a time, an owner or another thing of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Appends a record: header, bytes, zeros up to a multiple of 512. A name of at most 100 bytes, a file below 8 GB.
void append_tar_record(std::string_view name, std::string_view bytes, std::vector<std::uint8_t>& out);
// What an archive ends with.
std::string tar_end();

}  // namespace millrace
