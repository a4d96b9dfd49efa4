// Input: bytes in cache, and memory that nobody reads soon.
// Output: the bytes there, without the memory having been read into the cache first.
// Never: used from outside this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::rle {

// For copies of kilobytes. What was copied is seen by other threads after stream_end().
void stream_copy(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to);
void stream_end();

}  // namespace millrace::rle
