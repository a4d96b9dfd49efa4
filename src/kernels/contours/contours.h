// Input: rows of labels, from the top, as runs.
// Output: the outlines of connected areas, polygons with holes, each when its area ends.
// Never: holds more corners than its limit: then all open outlines are closed along a row, and begin anew below it.
//
// Pixels of one label are connected where they share a side (4-connected). Corners are those of pixels, so an outline
// encloses exactly the pixels of its area. Method: crack following, of a row's runs and those above it at a time
// (Rosenfeld and Kak, Digital Picture Processing, 1982, section 11.2.2).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace millrace {

struct LabelRun {
  std::uint8_t label = 0;
  std::uint32_t begin = 0, end = 0;  // columns
};
// Writes the runs of a row, from left to right; neighbouring runs have different labels.
void find_runs(std::span<const std::uint8_t> labels, std::vector<LabelRun>& out);

struct Corner {
  std::uint32_t x = 0, y = 0;
  friend bool operator==(const Corner&, const Corner&) = default;
};
// Rings of an area: the outside first, clockwise where y points down; then the holes, the other way round. No corner
// occurs twice in a row.
struct Outline {
  std::uint8_t label = 0;
  std::vector<std::vector<Corner>> rings;
};

class ContourTracer {
 public:
  using Labels = std::array<bool, 256>;
  // `outlined`: labels that are outlined at all.
  ContourTracer(const Labels& outlined, std::size_t max_corners, std::function<void(const Outline&)> emit);

  void add_row(std::span<const LabelRun> runs);
  // Ends all outlines; called after the last row.
  void finish();
  // Rows above which all outlines were closed because they had too many corners.
  const std::vector<std::uint32_t>& cuts() const { return cuts_; }
  // Returns the bytes that it takes, and that the receiver keeps of an outline, in rows of this width.
  static std::uint64_t bytes(std::size_t max_corners, std::uint64_t width);

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Node {
    Corner at;
    std::uint32_t next = kNone;
  };
  // An open end of a line: the corner there, and the line's other end.
  struct End {
    std::uint32_t node = kNone, other = kNone;
  };
  struct Part {
    std::uint32_t parent = 0;
    std::uint32_t first_ring = kNone, last_ring = kNone;  // indices in rings_
    std::uint32_t seen = 0;                               // last row with a run of it
    std::uint8_t label = 0;
  };
  struct Ring {
    std::uint32_t node = kNone, next = kNone;
  };
  struct Run {
    std::uint32_t begin = 0, end = 0;
    std::uint32_t left = kNone, right = kNone;  // indices in ends_: the beginning of its line, going up; and its end,
                                                // going down
    std::uint32_t part = kNone;
  };
  // Point at which a run begins or ends, on the line between two rows.
  struct Point {
    std::uint32_t x = 0;
    bool below = false;  // true: the run is in the row below
    bool is_end = false;
    std::uint32_t run = 0;
  };

  template <typename T>
  struct Pool {
    std::vector<T> items;
    std::vector<std::uint32_t> free;
    std::uint32_t take();
    void give(std::uint32_t k) { free.push_back(k); }
    T& operator[](std::uint32_t k) { return items[k]; }
    std::size_t used() const { return items.size() - free.size(); }
  };

  void meet(std::uint8_t label);
  void find_parts(std::uint8_t label);
  void join(const Point& arriving, const Point& leaving, std::uint8_t label);
  std::uint32_t corner(std::uint32_t x, std::uint32_t next = kNone);
  std::uint32_t root(std::uint32_t part);
  void unite(std::uint32_t into, std::uint32_t part);
  void close_ring(std::uint32_t node, std::uint32_t part);
  void add_rings(std::uint32_t node, Outline& out);
  void emit(std::uint32_t part);

  const std::function<void(const Outline&)> emit_;
  const std::size_t max_corners_;
  std::vector<std::uint8_t> labels_;
  std::array<std::vector<Run>, 256> above_, below_;
  std::vector<Point> points_;
  Pool<Node> nodes_;
  Pool<End> ends_;
  Pool<Part> parts_;
  Pool<Ring> rings_;
  std::vector<std::uint32_t> united_, emitted_;  // parts that no run belongs to any more
  std::uint32_t row_ = 0;
  bool is_cut_ = false;  // true if all was closed above the next row
  std::vector<std::uint32_t> cuts_;
};

}  // namespace millrace
