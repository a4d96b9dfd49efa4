#include "src/io/tensor/gather.h"

#include <cstring>
#include <vector>

namespace millrace {
namespace {

struct Side {
  std::uint64_t length = 1, stride = 1;
};

// Merges sides that follow one another without a gap, and leaves out sides of one element.
std::vector<Side> sides_of(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> strides) {
  std::vector<Side> out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!out.empty() && out.back().stride == shape[i] * strides[i]) {
      out.back() = {out.back().length * shape[i], strides[i]};
    } else {
      out.push_back({shape[i], strides[i]});
    }
  }
  return out;
}

template <std::size_t kBytes>
void copy_row(const std::byte* from, const Side& side, std::byte* out) {
  if (side.stride == 1) {
    std::memcpy(out, from, side.length * kBytes);
    return;
  }
  for (std::uint64_t i = 0; i < side.length; ++i) {
    std::memcpy(out + i * kBytes, from + i * side.stride * kBytes, kBytes);
  }
}

template <std::size_t kBytes>
void copy(const std::byte* from, std::vector<Side> sides, std::byte* out) {
  const Side row = sides.empty() ? Side{} : sides.back();
  if (!sides.empty()) sides.pop_back();
  std::vector<std::uint64_t> at(sides.size());
  std::uint64_t offset = 0;
  while (true) {
    copy_row<kBytes>(from + offset * kBytes, row, out);
    out += row.length * kBytes;
    // Advances to the next row, as an odometer turns.
    std::size_t i = sides.size();
    while (i > 0) {
      --i;
      offset += sides[i].stride;
      if (++at[i] < sides[i].length) break;
      offset -= sides[i].length * sides[i].stride;
      at[i] = 0;
      if (i == 0) return;
    }
    if (sides.empty()) return;
  }
}

}  // namespace

std::uint64_t count_spanned_elements(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> strides) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

void gather(const std::byte* from, std::size_t element_bytes, std::span<const std::uint64_t> shape,
            std::span<const std::uint64_t> strides, std::byte* out) {
  if (count_spanned_elements(shape, strides) == 0) return;
  std::vector<Side> sides = sides_of(shape, strides);
  switch (element_bytes) {
    case 1:
      return copy<1>(from, std::move(sides), out);
    case 2:
      return copy<2>(from, std::move(sides), out);
    case 4:
      return copy<4>(from, std::move(sides), out);
    default:
      return copy<8>(from, std::move(sides), out);
  }
}

}  // namespace millrace
