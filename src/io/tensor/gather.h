// Input: elements in memory with strides.
// Output: the same elements row after row, without gaps.
// Never: checks that the memory holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

// Copies elements of 1, 2, 4 or 8 bytes, with strides in elements. `from` is the address of the first one, which need
// not be aligned; `out` has room for all.
void gather(const std::byte* from, std::size_t element_bytes, std::span<const std::uint64_t> shape,
            std::span<const std::uint64_t> strides, std::byte* out);

// Returns the number of elements from the first to the last in memory; 0 if there are none.
std::uint64_t count_spanned_elements(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> strides);

}  // namespace millrace
