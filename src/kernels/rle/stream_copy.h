// Input: bytes in cache, and a destination that is not read soon.
// Output: the bytes copied, without loading the destination into the cache first.
// Never: used from outside this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::rle {

// Copies some kilobytes. Other threads see the copy after stream_end().
void stream_copy(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to);
void stream_end();

}  // namespace millrace::rle
