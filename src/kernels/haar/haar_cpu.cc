#include <algorithm>
#include <cstddef>

#include "src/kernels/haar/haar.h"

namespace millrace {

std::optional<std::vector<std::uint8_t>> haar_bits_of_sums(std::span<const std::uint64_t> sums) {
  std::vector<std::uint64_t> sorted(sums.begin(), sums.end());
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t below = sorted[sorted.size() / 2 - 1];
  const std::uint64_t above = sorted[sorted.size() / 2];
  if (below == above) return std::nullopt;
  std::vector<std::uint8_t> bits;
  for (const std::uint64_t sum : sums) bits.push_back(sum >= above);
  return bits;
}

std::vector<std::uint8_t> haar_bits(const std::uint8_t* pixels, int side, int size) {
  const auto stride = static_cast<std::size_t>(side);
  const auto cells = static_cast<std::size_t>(size);
  const std::size_t block = std::max<std::size_t>(1, stride / cells);
  std::vector<std::uint64_t> sums(cells * cells, 0);
  for (std::size_t y = 0; y < stride; ++y) {
    const std::uint8_t* row = pixels + y * stride;
    for (std::size_t x = 0; x < cells; ++x) {
      std::uint32_t sum = 0;
      for (std::size_t i = 0; i < block; ++i) sum += row[x * block + i];
      sums[y / block * cells + x] += sum;
    }
  }
  if (auto bits = haar_bits_of_sums(sums)) return *std::move(bits);
  return haar_bits_reference(pixels, side, size);
}

}  // namespace millrace
