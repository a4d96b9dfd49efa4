// The device code repeats this operation by operation: src/kernels/chart/body, cells.inc and lines.inc.
#include "src/kernels/stroke/stroke_cells.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "src/kernels/stroke/stroke_rows.h"

namespace millrace::stroke {
namespace {

// Returns an area as a level, rounded to nearest. Rounded corners may make the area a few units below 0 or above 1.
std::uint8_t level_of(std::int32_t area) {
  return static_cast<std::uint8_t>((((area + (1 << (kFiner - 1))) >> kFiner) * 255 + kOne / 2) >> 16);
}

// Number of pixels that are processed together.
constexpr int kBlock = 8;
constexpr std::uint64_t kBlockBits = 255;
static_assert(kBlock <= static_cast<int>(rle::Image::kBeyond) && std::endian::native == std::endian::little);

// Returns one cell per pixel, three more that an edge at the right border touches, and a block that may begin there.
std::size_t cells_of(int width) { return static_cast<std::size_t>(width) + 3 + kBlock; }

// Adds the area of an edge of height dy to cell p and the next one. `twice` is twice the mean fraction of p that lies
// to the edge's left, in 1/65536.
void add(std::int32_t* sums, int p, std::int32_t dy, std::int32_t twice, std::int32_t direction) {
  constexpr int kShift = 17 - kFiner;
  const auto beyond =
      static_cast<std::int32_t>((static_cast<std::int64_t>(dy) * twice + (1 << (kShift - 1))) >> kShift);
  sums[p] += direction * ((dy << kFiner) - beyond);
  sums[p + 1] += direction * beyond;
}

// Returns the first `pixels` pixels of a block, fewer than all.
std::uint64_t first_of(std::uint64_t block, int pixels) { return block & ((std::uint64_t{1} << (8 * pixels)) - 1); }

// Marks background pixels of a block in their highest bits. The first mark is right; pixels after it may be marked by
// mistake.
std::uint64_t background_of(std::uint64_t block) {
  return (block - 0x0101010101010101U) & ~block & 0x8080808080808080U;
}
// True if foreground follows a gap that is too long for literals.
bool has_gap(std::uint64_t block) {
  static_assert(rle::kMaxGap == 3);
  const std::uint64_t background = background_of(block), two = background & background >> 8, gaps = two & two >> 16;
  // If there is no gap, `first` - 1 is larger than any block.
  const std::uint64_t first = gaps & (0 - gaps);
  return first - 1 < block;
}

// Destination of a row's next run and its levels.
struct Written {
  rle::PixelRun* run;
  std::uint8_t* levels;
};
// Adds the first `count` pixels at the destination, without background at the ends and in long gaps.
[[gnu::noinline]] Written put_apart(Written to, int x, int count) {
  const std::uint8_t* const from = to.levels;
  for (int i = 0, background = rle::kMaxGap + 1; i < count; ++i) {
    if (from[i] == 0) {
      ++background;
      continue;
    }
    if (background > rle::kMaxGap) {
      *to.run++ = {static_cast<std::uint16_t>(x + i), 0, 0, 0, 0};
      background = 0;
    }
    rle::PixelRun& run = to.run[-1];
    run.literals = static_cast<std::uint16_t>(run.literals + background + 1);
    for (; background > 0; --background) *to.levels++ = 0;
    *to.levels++ = from[i];
  }
  return to;
}

// Writes the runs of one row.
class RowWriter {
 public:
  explicit RowWriter(const rle::Image::Room& room) : room_(room), to_{room.runs, room.levels} {}
  // Writes up to kBlock pixels, the first one lowest; they are not all background.
  void put(int x, std::uint64_t block) {
    const int background = std::countr_zero(block) / 8 % kBlock,
              literals = kBlock - std::countl_zero(block) / 8 - background;
    block >>= 8 * background;
    std::memcpy(to_.levels, &block, sizeof block);
    if (has_gap(block)) {
      to_ = put_apart(to_, x + background, literals);
      return;
    }
    *to_.run++ = {static_cast<std::uint16_t>(x + background), static_cast<std::uint16_t>(literals), 0, 0, 0};
    to_.levels += literals;
  }
  void put(const StrokeParts::Pixels& pixels) {
    // Few rows have more than half of the possible pixels.
    constexpr int kFew = kTileWidth / 2;
    static_assert(kTileWidth <= rle::Image::kBeyond);
    std::memcpy(to_.levels, pixels.levels, kFew);
    if (pixels.count > kFew) std::memcpy(to_.levels + kFew, pixels.levels + kFew, kFew);
    if (pixels.apart) {
      to_ = put_apart(to_, pixels.x, pixels.count);
      return;
    }
    *to_.run = {static_cast<std::uint16_t>(pixels.x), static_cast<std::uint16_t>(pixels.count), 0, 0, 0};
    to_.run += pixels.count > 0;
    to_.levels += pixels.count;
  }
  // Adds a repeat after the newest run.
  void run(int count, std::uint8_t level) {
    to_.run[-1].repeats = static_cast<std::uint16_t>(count);
    to_.run[-1].level = level;
  }
  void finish(rle::Image& out) const {
    out.end_whole_row(static_cast<std::size_t>(to_.run - room_.runs),
                      static_cast<std::size_t>(to_.levels - room_.levels));
  }

 private:
  const rle::Image::Room room_;
  Written to_;
};

void put_parts(std::span<const StrokeParts::Pixels> parts, rle::Image& out) {
  RowWriter writer(out.begin_whole_row());
  for (const StrokeParts::Pixels& part : parts) writer.put(part);
  writer.finish(out);
}

}  // namespace

Cells::Cells(int width, int height)
    : width_(width),
      height_(height),
      stride_((cells_of(width) + 15) / 16 * 16),
      words_((cells_of(width) + 63) / 64 + 1),  // and one word that is always 0
      sums_(stride_ * kBand),
      bits_(words_ * kBand),
      bands_((static_cast<std::size_t>(height) + kBand - 1) / kBand, kNone) {
  std::memset(sums_.data(), 0, sums_.size() * sizeof(std::int32_t));
  std::memset(bits_.data(), 0, bits_.size() * sizeof(std::uint64_t));
}

std::size_t Cells::memory_needed(int width, int height) {
  return kBand * (cells_of(width) + 64) * 5 + static_cast<std::size_t>(height) * 4 +
         StrokeParts::memory_needed(width, height);
}

// Adds an edge that leaves the image to the left or right. Its part left of the image counts as at the border, its part
// right of the image does not count.
void Cells::edge_beyond(std::int32_t x0, std::int32_t y0, std::int32_t x1, std::int32_t y1) {
  const std::int32_t right = width_ << 16;
  if (x0 >= right && x1 >= right) return;
  if (x0 <= 0 && x1 <= 0) return edge(0, y0, 0, y1);
  // The edge crosses one of the borders and is split there.
  const std::int32_t border = std::min(x0, x1) < 0 ? 0 : right;
  const double share = static_cast<double>(border - x0) / static_cast<double>(x1 - x0);
  const std::int32_t y = y0 + nearest(static_cast<double>(y1 - y0) * share);
  edge(x0, y0, border, y);
  edge(border, y, x1, y1);
}

void Cells::sweep(rle::Image& out) {
  parts_.start(height_);
  out.begin(width_, height_);
  for (int top = 0, band = 0; top < height_; top += kBand, ++band) {
    const std::uint32_t first = bands_[static_cast<std::size_t>(band)];
    for (std::uint32_t i = first, next = kNone; i != kNone; i = next) {
      next = edges_[i].next;
      put(edges_[i], top);
      if (edges_[i].y1 <= (top + kBand) << 16 || top + kBand >= height_) continue;
      edges_[i].next = std::exchange(bands_[static_cast<std::size_t>(band) + 1], i);
    }
    bands_[static_cast<std::size_t>(band)] = kNone;
    const int rows = std::min(kBand, height_ - top);
    for (int row = 0; row < rows; ++row) {
      const std::span<const StrokeParts::Pixels> parts = parts_.row(top + row);
      if (first != kNone) {
        sweep_row(row, parts, out);
      } else {
        put_parts(parts, out);
      }
    }
  }
  out.finish();
  edges_.clear();
  parts_.clear();
}

void Cells::put(const Edge& edge, int top) {
  const int bottom = std::min(top + kBand, height_);
  if (edge.y0 >> 16 == (edge.y1 - 1) >> 16 && edge.y0 >= 0) {
    return put_piece((edge.y0 >> 16) - top, edge.x0, edge.x1, edge.y1 - edge.y0, edge.direction);
  }
  const double slope = static_cast<double>(edge.x1 - edge.x0) / static_cast<double>(edge.y1 - edge.y0);
  const auto x_at = [&](std::int32_t y) {
    if (y <= edge.y0) return edge.x0;
    return y >= edge.y1 ? edge.x1 : edge.x0 + nearest(static_cast<double>(y - edge.y0) * slope);
  };
  std::int32_t y = std::max(edge.y0, top << 16);
  const std::int32_t end = std::min(edge.y1, bottom << 16);
  std::int32_t x = x_at(y);
  const auto to = [&](std::int32_t next) {
    const std::int32_t next_x = x_at(next);
    put_piece((y >> 16) - top, x, next_x, next - y, edge.direction);
    x = next_x;
    y = next;
  };
  const int whole = (y + kOne - 1) >> 16, beyond = end >> 16;  // rows that the edge crosses completely
  if (beyond - whole >= kFewRows && slope >= -1 && slope <= 1) {
    if (y < whole << 16) to(whole << 16);
    put_rows(edge, slope, whole - top, beyond - top, top);
    y = beyond << 16;
    x = x_at(y);
  }
  while (y < end) to(std::min(end, ((y >> 16) + 1) << 16));
}

void Cells::put_piece(int row, std::int32_t xa, std::int32_t xb, std::int32_t dy, std::int32_t direction) {
  if (xa > xb) std::swap(xa, xb);
  std::int32_t* sums = sums_.data() + static_cast<std::size_t>(row) * stride_;
  std::uint64_t* bits = bits_.data() + static_cast<std::size_t>(row) * words_;
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
  for (int k = xa >> 16; k <= p + 1; ++k) bits[k >> 6] |= std::uint64_t{1} << (k & 63);
}

void Cells::put_rows(const Edge& edge, double slope, int begin, int end, int top) {
  static_assert(kBand <= kRowsAtOnce);
  CrossedRows crossed;
  const std::int32_t above = ((begin + top) << 16) - edge.y0;
  cross_rows(edge.x0, above, slope, end - begin, crossed);
  std::int32_t* sums = sums_.data() + static_cast<std::size_t>(begin) * stride_;
  std::uint64_t* bits = bits_.data() + static_cast<std::size_t>(begin) * words_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(end - begin); ++i, sums += stride_, bits += words_) {
    const std::int32_t p = crossed.first[i], third = crossed.area2[i];
    sums[p] += edge.direction * crossed.area0[i];
    sums[p + 1] += edge.direction * crossed.area1[i];
    sums[p + 2] += edge.direction * third;
    const std::uint64_t cells = third > 0 ? 7 : 3;
    const int bit = p & 63;
    bits[p >> 6] |= cells << bit;
    if (bit > 61) bits[(p >> 6) + 1] |= cells >> (64 - bit);
  }
}

void Cells::sweep_row(int row, std::span<const StrokeParts::Pixels> parts, rle::Image& out) {
  std::int32_t* sums = sums_.data() + static_cast<std::size_t>(row) * stride_;
  std::uint64_t* bits = bits_.data() + static_cast<std::size_t>(row) * words_;
  RowWriter writer(out.begin_whole_row());
  std::size_t next = 0;
  StrokeParts::Pixels part{};
  const auto take_part = [&] {
    do {
      part =
          next < parts.size() ? parts[next] : StrokeParts::Pixels{std::numeric_limits<int>::max(), 1, false, nullptr};
      ++next;
    } while (part.count == 0);
  };
  take_part();
  std::int32_t area = 0;
  std::uint8_t level = 0;
  int end = 0;  // end of the newest block
  // From a set cell on, kBlock pixels become the literals of a run, whatever they contain. The number of cells of a
  // line's piece varies from row to row, and a branch on it would be mispredicted half of the time.
  for (std::size_t w = 0; w + 1 < words_; ++w) {
    while (bits[w] != 0) {
      const int skip = std::countr_zero(bits[w]);
      int x = static_cast<int>(w) * 64 + skip;
      bits[w] &= ~(kBlockBits << skip);
      bits[w + 1] &= ~(skip > 64 - kBlock ? kBlockBits >> (64 - skip) : 0);
      if (level > 0 && x > end) writer.run(std::min(x, width_) - end, level);
      for (; part.x < x; take_part()) writer.put(part);
      std::int32_t* cell = sums + x;
      std::array<std::int32_t, kBlock> areas;
      for (std::size_t i = 0; i < kBlock; ++i) areas[i] = area += cell[i];
      std::memset(cell, 0, kBlock * sizeof *cell);
      std::array<std::uint8_t, kBlock> levels;
      for (std::size_t i = 0; i < kBlock; ++i) levels[i] = level_of(areas[i]);
      level = levels[kBlock - 1];
      end = x + kBlock;
      std::uint64_t block;
      std::memcpy(&block, levels.data(), sizeof block);
      if (end > width_) block = x < width_ ? first_of(block, width_ - x) : 0;
      // Parts lie where cells have no foreground, and possibly between such cells.
      for (; block != 0 && part.x < end; take_part()) {
        if (const int before = part.x - x; before > 0) {
          if (const std::uint64_t first = first_of(block, before); first != 0) writer.put(x, first);
          block >>= 8 * before;
          x += before;
        }
        writer.put(part);
        const int shared = std::max(0, part.x + part.count - x);
        block = shared < kBlock ? block >> (8 * shared) : 0;
        x += shared;
      }
      if (block != 0) writer.put(x, block);
    }
  }
  if (level > 0 && end < width_) writer.run(width_ - end, level);
  for (; next <= parts.size(); take_part()) writer.put(part);
  writer.finish(out);
}

}  // namespace millrace::stroke
