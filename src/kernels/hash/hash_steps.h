// Input: the reduced copy of a picture, from the CPU or a device.
// Output: the sizes that a picture is reduced to, and the bits of its hashes.
// Never: used except by the code that hashes pictures, on the CPU and on devices.
#pragma once

#include <compare>
#include <optional>
#include <span>

#include "src/kernels/hash/hash.h"
#include "src/kernels/pdq/pdq.h"

namespace millrace {

struct ResizeTarget {
  int width, height;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a comparison with 0 in it
  friend auto operator<=>(const ResizeTarget&, const ResizeTarget&) = default;
};

// Returns the largest power of two in the shorter side, but never less than the hash size.
int whash_side(int width, int height, int size);

// Returns the size to which a kind reduces a picture's luma; nothing where the kind needs the pixels.
std::optional<ResizeTarget> target_of(HashKind kind, int size, int width, int height);

// Makes the bits from the low coefficients of a reduced picture's DCT.
HashBits phash_bits(std::span<const double> low);
HashBits pdq_bits(const PdqHash& hash);

}  // namespace millrace
