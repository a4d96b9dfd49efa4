// Input: the beginning of a .npy file, which may be a file, a member of an archive, or an inflated stream.
// Output: its header, and the guarantee that its numbers fit into the bytes that follow.
// Never: asks for a byte after the header.
#pragma once

#include <functional>
#include <span>

#include "src/io/tensor/npy.h"
#include "src/io/tensor/source.h"

namespace millrace::npy {

// Maximum bytes of the header's text.
inline constexpr std::size_t kMostHeader = std::size_t{1} << 20;

// Thrown for an array of texts, dates or objects, which is not an error.
struct NoNumbers : Refusal {};

// `next` fills its argument with the bytes that follow the previous ones; there are `bytes` in all. Throws Refusal.
Header read_front(const std::function<void(std::span<std::byte>)>& next, std::uint64_t bytes);
Header read_front(Source& source);

}  // namespace millrace::npy
