// Enters: edges of a region, in 1/65536 of a pixel, in any order.
// Leaves: the area of the region in each pixel, row by row; touches no pixel without an edge.
// Never: rounds away area: what an edge adds to a row of pixels is its height, exactly.
//
// A row holds differences: an edge of height d at a share f of pixel p leaves d (1 - f) to p and d f to p + 1, so that
// a sum from the left is the area to the right of the edges so far. Which cells of a row are set is kept as bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "src/kernels/ink/ink.h"
#include "src/memory/buffer.h"

namespace millrace::stroke {

inline constexpr int kOne = 1 << 16;

// The nearest integer, ties to even, of a value below 2^31: adding 1.5 * 2^52 leaves it in the lowest bits.
inline std::int32_t nearest(double v) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(v + 6755399441055744.0) & 0xFFFFFFFF);
}
inline std::int32_t to_fixed(double v) { return nearest(v * kOne); }

class Cells {
 public:
  Cells(int width, int height)
      : width_(width),
        height_(height),
        stride_((static_cast<std::size_t>(width) + 2 + 15) / 16 * 16),
        words_((static_cast<std::size_t>(width) + 2 + 63) / 64),
        sums_(stride_ * static_cast<std::size_t>(height)),
        bits_(words_ * static_cast<std::size_t>(height)) {
    std::memset(sums_.data(), 0, sums_.size() * sizeof(std::int32_t));
    std::memset(bits_.data(), 0, bits_.size() * sizeof(std::uint64_t));
    first_row_ = height;
  }

  static std::size_t memory_needed(int width, int height) {
    return static_cast<std::size_t>(height) * (static_cast<std::size_t>(width) + 18) * 5;
  }

  // What lies to the right of an edge that goes down gains, to the right of one that goes up loses. The left upper
  // corner of the picture is (0, 0).
  void edge(std::int32_t x0, std::int32_t y0, std::int32_t x1, std::int32_t y1) {
    if (y0 == y1) return;
    const std::int32_t right = width_ << 16;
    if (x0 < 0 || x1 < 0 || x0 > right || x1 > right) return edge_beyond(x0, y0, x1, y1);
    std::int32_t direction = 1;
    if (y0 > y1) {
      std::swap(x0, x1);
      std::swap(y0, y1);
      direction = -1;
    }
    const std::int32_t bottom = height_ << 16;
    if (y1 <= 0 || y0 >= bottom) return;
    const double slope = static_cast<double>(x1 - x0) / static_cast<double>(y1 - y0);
    const auto at = [x = x0, y = y0, slope](std::int32_t to) {
      return x + nearest(static_cast<double>(to - y) * slope);
    };
    if (y1 > bottom) {
      x1 = at(bottom);
      y1 = bottom;
    }
    if (y0 < 0) {
      x0 = at(0);
      y0 = 0;
    }
    int row = y0 >> 16;
    const int last = (y1 - 1) >> 16;
    first_row_ = std::min(first_row_, row);
    last_row_ = std::max(last_row_, last);
    std::int32_t x = x0, y = y0;
    for (; row < last; ++row) {
      const std::int32_t next_y = (row + 1) << 16, next_x = at(next_y);
      piece(row, x, next_x, next_y - y, direction);
      x = next_x;
      y = next_y;
    }
    piece(row, x, x1, y1 - y, direction);
  }

  // The picture of all edges, which are gone afterwards.
  void sweep(ink::Picture& out);

 private:
  // The part of an edge in one row: dy high, between xa and xb.
  void piece(int row, std::int32_t xa, std::int32_t xb, std::int32_t dy, std::int32_t direction) {
    if (xa > xb) std::swap(xa, xb);
    std::int32_t* sums = sums_.data() + static_cast<std::size_t>(row) * stride_;
    int p = xa >> 16;
    const std::int32_t left = p << 16;
    if (xb - left <= kOne) {
      add(sums, p, dy, xa + xb - 2 * left, direction);
    } else {
      const double per = static_cast<double>(dy) / static_cast<double>(xb - xa);
      std::int32_t done = 0, from = xa;
      for (;; ++p) {
        const std::int32_t begin = p << 16, to = std::min(xb, begin + kOne);
        const std::int32_t reached = to == xb ? dy : nearest(static_cast<double>(to - xa) * per);
        add(sums, p, reached - done, from + to - 2 * begin, direction);
        done = reached;
        from = to;
        if (to == xb) break;
      }
    }
    std::uint64_t* bits = bits_.data() + static_cast<std::size_t>(row) * words_;
    for (int k = xa >> 16; k <= p + 1; ++k) bits[k >> 6] |= std::uint64_t{1} << (k & 63);
  }

  // `twice` is twice the mean share of pixel p that lies to the left, in 1/65536.
  static void add(std::int32_t* sums, int p, std::int32_t dy, std::int32_t twice, std::int32_t direction) {
    const auto beyond = static_cast<std::int32_t>((static_cast<std::int64_t>(dy) * twice) >> 17);
    sums[p] += direction * (dy - beyond);
    sums[p + 1] += direction * beyond;
  }

  // An edge that leaves the picture to the left or right: what lies left of it counts as at its border, what lies
  // right of it does not count.
  void edge_beyond(std::int32_t x0, std::int32_t y0, std::int32_t x1, std::int32_t y1);

  int width_, height_;
  std::size_t stride_, words_;
  Buffer<std::int32_t> sums_;
  Buffer<std::uint64_t> bits_;
  int first_row_, last_row_ = -1;
};

}  // namespace millrace::stroke
