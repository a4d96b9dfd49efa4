// Input: a square of pixels whose side is a power of two.
// Output: the bits of a wavelet hash.
// Never: computes the transform where whole numbers decide already.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

// The bits of imagehash's whash over PyWavelets 1.9.0: pixels / 255, Haar transform to full depth, its last low-pass
// coefficient set to zero, inverse transform, forward transform down to size x size, bit = value > median.
//
// `side` and `size` are powers of two, 2 <= size <= side. Row-major, one byte a bit.
//
// A low-pass coefficient is a block's sum times a constant, less the picture's mean, so bits follow from comparing
// whole block sums with their median. Only where the two middle sums are equal does the rounding of PyWavelets'
// double arithmetic decide; haar_bits then repeats that arithmetic step by step. (A block's coefficient is the sum of
// up to side^2 / size^2 rounded terms: its error stays below 1e-9 of one unit in a pixel, the smallest difference
// between unequal sums is 0.5 of it.)
std::vector<std::uint8_t> haar_bits(const std::uint8_t* pixels, int side, int size);

// Returns the bits from the sums of blocks, row by row; nothing where the rounding of PyWavelets' arithmetic decides.
std::optional<std::vector<std::uint8_t>> haar_bits_of_sums(std::span<const std::uint64_t> sums);

// Returns the memory that the next function needs: a block, and the details of its levels.
inline Bytes haar_workspace(int side, int size) {
  const auto block = static_cast<std::uint64_t>(side / size);
  return {4 * block * block * sizeof(double)};
}
// Same by PyWavelets' own steps throughout: the definition in code.
std::vector<std::uint8_t> haar_bits_reference(const std::uint8_t* pixels, int side, int size);

}  // namespace millrace
