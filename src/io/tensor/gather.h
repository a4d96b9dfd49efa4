// Input: elements that lie with strides.
// Output: the same row after row without gaps.
// Never: checks that they are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

// Elements of 1, 2, 4 or 8 bytes, with strides in elements. `from` is the first one's place, which need not be aligned
// for them; `out` has room for all.
void gather(const std::byte* from, std::size_t element_bytes, std::span<const std::uint64_t> shape,
            std::span<const std::uint64_t> strides, std::byte* out);

// How many elements there are from the first to the last in memory; 0 where there are none.
std::uint64_t reach(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> strides);

}  // namespace millrace
