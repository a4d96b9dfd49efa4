// Input: what a picture was reduced to, by whichever side.
// Output: the sizes that a picture is reduced to, and the bits of its hashes.
// Never: used but by those who hash pictures, on the CPU and on devices.
#pragma once

#include <compare>
#include <optional>
#include <span>

#include "src/kernels/hash/hash.h"
#include "src/kernels/pdq/pdq.h"

namespace millrace {

struct Target {
  int width, height;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a comparison with 0 in it
  friend auto operator<=>(const Target&, const Target&) = default;
};

// The largest power of two in the shorter side, but never less than the hash.
int whash_side(int width, int height, int size);

// What a kind needs of a picture's luma; nothing where it needs the pixels.
std::optional<Target> target_of(HashKind kind, int size, int width, int height);

// Of the low coefficients of a reduced picture's DCT.
HashBits phash_bits(std::span<const double> low);
HashBits pdq_bits(const PdqHash& hash);

}  // namespace millrace
