// Input: the beginning of a .npy file, which may be a file, a member of an archive, or an inflated stream.
// Output: its header, and the guarantee that its numbers fit into the bytes that follow.
// Never: asks for a byte after the header.
#pragma once

#include <functional>
#include <span>

#include "src/io/tensor/npy.h"
#include "src/io/tensor/random_access_source.h"

namespace millrace::npy {

// Maximum bytes of the header's text.
inline constexpr std::size_t kMaxHeader = std::size_t{1} << 20;

// Thrown for an array of texts, dates or objects, which is not an error.
struct NotNumeric : ParseError {};

// `next` fills its argument with the bytes that follow the previous ones; there are `bytes` in all. Throws ParseError.
Header parse_header(const std::function<void(std::span<std::byte>)>& next, std::uint64_t bytes);
Header parse_header(RandomAccessSource& source);

}  // namespace millrace::npy
