// Enters: rows that the two straight sides of one leg cross, and nothing else of the stroke touches there.
// Leaves: their pixels, row by row, from left to right.
// Never: used from outside this folder.
//
// Most rows of a steep chart are such rows: their levels follow from where the left side is, without cells. They are
// computed some rows of a leg at a time, when the sweep reaches them, so that what is held is what one row shows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "src/kernels/stroke/stroke_rows.h"

namespace millrace::stroke {

class Slants {
 public:
  // Rows [begin, end) of a leg; the left side crosses the top of the first one at x, `step` further right a row, and
  // the right side is `across` beside it: 0 or more for all of them.
  struct Slant {
    int begin, end;
    double x, step, across;
  };
  void add(const Slant& slant) { slants_.push_back(slant); }
  bool empty() const { return slants_.empty(); }

  // Rows are asked for from the top.
  void start(int height);
  void move_to(int row) {
    if (row == next_event_) change(row);
  }
  struct Pixels {
    int x;
    std::uint64_t levels;  // kSlantPixels, the first one lowest
  };
  std::size_t count() const { return shown_.size(); }
  Pixels at(std::size_t i, int row) const {
    const Shown& shown = shown_[i];
    const auto k = static_cast<std::size_t>(row - shown.begin);
    const SlantRows& rows = rows_[shown.place];
    return {rows.x[k], rows.levels[k]};
  }
  // All of them are gone.
  void clear() { slants_.clear(); }

 private:
  // A leg that crosses the row, and which of its rows are computed.
  struct Shown {
    std::uint32_t slant, place;
    int begin, end;
  };

  void change(int row);
  void compute(Shown& shown, int row);

  std::vector<Slant> slants_;
  std::vector<std::uint32_t> order_;  // by the first row
  std::vector<std::uint32_t> starts_;
  std::size_t next_ = 0;              // of order_
  int next_event_ = -1;
  std::vector<Shown> shown_;          // from left to right
  std::vector<SlantRows> rows_;
  std::vector<std::uint32_t> free_;   // of rows_
};

}  // namespace millrace::stroke
