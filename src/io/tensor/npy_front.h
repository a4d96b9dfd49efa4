// Input: the beginning of a .npy file, wherever it comes from: a file, a member of an archive, a stream inflated.
// Output: its header, and the promise that its numbers fit into the bytes that follow.
// Never: asks for a byte behind the header.
#pragma once

#include <functional>
#include <span>

#include "src/io/tensor/npy.h"
#include "src/io/tensor/source.h"

namespace millrace::npy {

// What comes before the numbers, at most.
inline constexpr std::size_t kMostHeader = std::size_t{1} << 20;

// Thrown for an array of texts, dates or objects, which is no mistake.
struct NoNumbers : Refusal {};

// `next` fills what it is given with the bytes that follow those of before; there are `bytes` in all. Throws Refusal.
Header read_front(const std::function<void(std::span<std::byte>)>& next, std::uint64_t bytes);
Header read_front(Source& source);

}  // namespace millrace::npy
