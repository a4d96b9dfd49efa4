// Input: an open file, and where in it.
// Output: bytes read or written there, all of them.
// Never: moves the file's own position, or stops at a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

// How many bytes were read: fewer at the end of the file, or, with errno not 0, at a failure.
std::size_t read_at(int fd, std::uint64_t offset, std::span<std::byte> out);
// False with errno.
bool write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes);

}  // namespace millrace
