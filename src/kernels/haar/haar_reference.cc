#include <algorithm>
#include <cstddef>

#include "src/kernels/haar/haar.h"

namespace millrace {
namespace {

using Square = std::vector<double>;

// PyWavelets' Haar filter taps, as its tables write them.
constexpr double kTap = 0.7071067811865476;

// Details that one level of the transform removes: along rows, along columns, along both.
struct Details {
  Square across, down, both;
};

// Applies one level of the transform: `x` of n x n becomes its low-pass quarter. PyWavelets filters down the columns
// first, then along the rows, and adds the later sample's product first.
Square analyse(const Square& x, std::size_t n, Details* details) {
  const std::size_t m = n / 2;
  Square low(m * n), high(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double even = x[2 * i * n + j];
      const double odd = x[(2 * i + 1) * n + j];
      low[i * n + j] = kTap * odd + kTap * even;
      high[i * n + j] = -kTap * odd + kTap * even;
    }
  }
  const auto along = [&](const Square& from, bool difference) {
    Square out(m * m);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        const double even = from[i * n + 2 * j];
        const double odd = from[i * n + 2 * j + 1];
        out[i * m + j] = (difference ? -kTap : kTap) * odd + kTap * even;
      }
    }
    return out;
  };
  if (details != nullptr) *details = {along(low, true), along(high, false), along(high, true)};
  return along(low, false);
}

// Inverts one level: m x m and its details become 2m x 2m, along the rows first.
Square synthesise(const Square& x, std::size_t m, const Details& details) {
  const std::size_t n = 2 * m;
  const auto along = [&](const Square& low, const Square& high) {
    Square out(m * n);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        out[i * n + 2 * j] = kTap * low[i * m + j] + kTap * high[i * m + j];
        out[i * n + 2 * j + 1] = kTap * low[i * m + j] + -kTap * high[i * m + j];
      }
    }
    return out;
  };
  const Square low = along(x, details.across);
  const Square high = along(details.down, details.both);
  Square out(n * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      out[2 * i * n + j] = kTap * low[i * n + j] + kTap * high[i * n + j];
      out[(2 * i + 1) * n + j] = kTap * low[i * n + j] + -kTap * high[i * n + j];
    }
  }
  return out;
}

// Applies all levels, down to one value; details are kept finest first.
double analyse_fully(Square x, std::size_t n, std::vector<Details>* details) {
  for (; n > 1; n /= 2) {
    Details level;
    x = analyse(x, n, details != nullptr ? &level : nullptr);
    if (details != nullptr) details->push_back(std::move(level));
  }
  return x[0];
}

Square synthesise_fully(double top, const std::vector<Details>& details) {
  Square x = {top};
  std::size_t m = 1;
  for (auto level = details.rbegin(); level != details.rend(); ++level, m *= 2) x = synthesise(x, m, *level);
  return x;
}

}  // namespace

std::vector<std::uint8_t> haar_bits_reference(const std::uint8_t* pixels, int side, int size) {
  // Every coefficient depends only on the samples below it and, on the way back, above it. So the square is transformed
  // block by block: the arithmetic of a value is the same, the memory is one block's.
  const auto stride = static_cast<std::size_t>(side);
  const auto cells = static_cast<std::size_t>(size);
  const std::size_t block = stride / cells;
  const auto block_at = [&](std::size_t cell) {
    Square x(block * block);
    const std::uint8_t* from = pixels + cell / cells * block * stride + cell % cells * block;
    for (std::size_t i = 0; i < block; ++i) {
      for (std::size_t j = 0; j < block; ++j) x[i * block + j] = from[i * stride + j] / 255.0;
    }
    return x;
  };
  Square low(cells * cells);
  for (std::size_t cell = 0; cell < low.size(); ++cell) low[cell] = analyse_fully(block_at(cell), block, nullptr);

  std::vector<Details> top;
  analyse_fully(low, cells, &top);
  const Square without_mean = synthesise_fully(0.0, top);

  for (std::size_t cell = 0; cell < low.size(); ++cell) {
    std::vector<Details> details;
    analyse_fully(block_at(cell), block, &details);
    low[cell] = analyse_fully(synthesise_fully(without_mean[cell], details), block, nullptr);
  }
  Square sorted = low;
  std::sort(sorted.begin(), sorted.end());
  const double median = (sorted[sorted.size() / 2 - 1] + sorted[sorted.size() / 2]) / 2.0;
  std::vector<std::uint8_t> bits;
  for (const double value : low) bits.push_back(value > median);
  return bits;
}

}  // namespace millrace
