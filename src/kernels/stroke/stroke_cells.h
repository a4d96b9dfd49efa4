// Input: edges of a region, in 1/65536 of a pixel, in any order.
// Output: the area of the region in each pixel, as foreground runs; pixels without an edge are not touched.
// Never: loses area by rounding: an edge adds exactly its height to a row of pixels.
//
// A row holds differences. An edge of height d at a fraction f of pixel p adds d (1 - f) to p and d f to p + 1. So a
// sum from the left is the area to the right of the edges so far. The set cells of a row are marked by bits. Edges are
// kept until the end and added to a few rows at a time. Those rows stay in a core's own cache, where all rows of a
// large image would not fit.
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

// Number of bits by which areas are finer than edges: a million edges of one unit each must not lose their shares.
// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr int kFiner = 8;

class Cells {
 public:
  // Number of rows that are computed together: 32 rows of 800 pixels take 104 KiB.
  static constexpr int kBand = 32;
  // Smallest number of whole rows of a steep edge for which computing them together is faster.
  static constexpr int kFewRows = 4;

  Cells(int width, int height);
  static std::size_t memory_needed(int width, int height);

  // Adds an edge: the area to its right grows for an edge that goes down, and shrinks for one that goes up. The upper
  // left corner of the image is (0, 0).
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
  // Parts of the image that are not described by edges; all lie within the image.
  StrokeParts& parts() { return parts_; }

  // Writes the image of all edges and parts, and clears them.
  void sweep(rle::Image& out);

 private:
  // An edge that goes down.
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
  // Adds the part of an edge in rows [top, top + kBand).
  void put(const Edge& edge, int top);
  // Adds the part of an edge in one row of the band: dy high, between xa and xb.
  void put_piece(int row, std::int32_t xa, std::int32_t xb, std::int32_t dy, std::int32_t direction);
  // Adds an edge to rows [begin, end) of the band, which it crosses completely; the band's first row is `top`.
  void put_rows(const Edge& edge, double slope, int begin, int end, int top);
  void sweep_row(int row, std::span<const StrokeParts::Pixels> parts, rle::Image& out);

  int width_, height_;
  std::size_t stride_, words_;
  Buffer<std::int32_t> sums_;
  Buffer<std::uint64_t> bits_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> bands_;  // per band: first edge that begins there, or continues from the band above
  StrokeParts parts_;
};

}  // namespace millrace::stroke
