// Input: an open file and an offset in it.
// Output: the bytes read or written at that offset, all of them.
// Never: moves the file's own position, or stops at a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

// Returns the number of bytes read: fewer than out.size() at the end of the file, or, with errno not 0, at a failure.
std::size_t read_at(int fd, std::uint64_t offset, std::span<std::byte> out);
// Returns false, with errno set, if a write fails.
bool write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes);

}  // namespace millrace
