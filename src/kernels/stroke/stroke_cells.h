// Input: edges of a region, in 1/65536 of a pixel, in any order.
// Output: the area of the region in each pixel, as runs of ink; touches no pixel without an edge.
// Never: rounds away area: what an edge adds to a row of pixels is its height, exactly.
//
// A row holds differences: an edge of height d at a share f of pixel p leaves d (1 - f) to p and d f to p + 1, so that
// a sum from the left is the area to the right of the edges so far. Which cells of a row are set is kept as bits. Edges
// are kept until the end and put into a few rows at a time: those rows stay in a core's own cache, where all rows of a
// large picture would not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "src/kernels/rle/rle.h"
#include "src/kernels/stroke/stroke_fixed.h"
#include "src/kernels/stroke/stroke_parts.h"
#include "src/memory/buffer.h"

namespace millrace::stroke {

// Areas are finer than edges by so many bits: a million edges of one unit each must not lose their shares.
inline constexpr int kFiner = 8;

class Cells {
 public:
  // Of rows that are computed together: 32 of 800 pixels take 104 KiB.
  static constexpr int kBand = 32;
  // Rows of a steep edge from which on computing them together pays.
  static constexpr int kFewRows = 4;

  Cells(int width, int height);
  static std::size_t memory_needed(int width, int height);

  // What lies to the right of an edge that goes down gains, to the right of one that goes up loses. The left upper
  // corner of the picture is (0, 0).
  void edge(std::int32_t x0, std::int32_t y0, std::int32_t x1, std::int32_t y1) {
    if (y0 == y1 || std::max(y0, y1) <= 0 || std::min(y0, y1) >= height_ << 16) return;
    const std::int32_t right = width_ << 16;
    if (x0 < 0 || x1 < 0 || x0 > right || x1 > right) return edge_beyond(x0, y0, x1, y1);
    if (y0 < y1) {
      keep({x0, y0, x1, y1, 1, 0});
    } else {
      keep({x1, y1, x0, y0, -1, 0});
    }
  }

  int width() const { return width_; }
  int height() const { return height_; }
  // What no edge speaks of, all within the picture.
  Parts& parts() { return parts_; }

  // The picture of all edges and parts, which are gone afterwards.
  void sweep(rle::Image& out);

 private:
  // Downwards.
  struct Edge {
    std::int32_t x0, y0, x1, y1;
    std::int32_t direction;
    std::uint32_t next;  // edge of the same band, or kNone
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void keep(const Edge& edge) {
    std::uint32_t& first = bands_[static_cast<std::size_t>(std::max(0, edge.y0) >> 16) / kBand];
    edges_.push_back(edge);
    edges_.back().next = std::exchange(first, static_cast<std::uint32_t>(edges_.size() - 1));
  }
  void edge_beyond(std::int32_t x0, std::int32_t y0, std::int32_t x1, std::int32_t y1);
  // The part of an edge that lies in rows [top, top + kBand).
  void put(const Edge& edge, int top);
  // The part of an edge in one row of the band: dy high, between xa and xb.
  void put_piece(int row, std::int32_t xa, std::int32_t xb, std::int32_t dy, std::int32_t direction);
  // Rows [begin, end) of the band, whose first row is `top`, that an edge crosses whole.
  void put_rows(const Edge& edge, double slope, int begin, int end, int top);
  void sweep_row(int row, std::span<const Parts::Pixels> parts, rle::Image& out);

  int width_, height_;
  std::size_t stride_, words_;
  Buffer<std::int32_t> sums_;
  Buffer<std::uint64_t> bits_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> bands_;  // the first edge of each band that begins there, or goes on from the band above
  Parts parts_;
};

}  // namespace millrace::stroke
