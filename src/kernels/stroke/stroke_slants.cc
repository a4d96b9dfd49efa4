#include "src/kernels/stroke/stroke_slants.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace::stroke {

void Slants::start(int height) {
  // Counted by the first row.
  starts_.assign(static_cast<std::size_t>(height) + 1, 0);
  for (const Slant& slant : slants_) ++starts_[static_cast<std::size_t>(slant.begin)];
  std::uint32_t sum = 0;
  for (std::uint32_t& count : starts_) count = std::exchange(sum, sum + count);
  order_.resize(slants_.size());
  for (std::uint32_t i = 0; i < slants_.size(); ++i) order_[starts_[static_cast<std::size_t>(slants_[i].begin)]++] = i;
  next_ = 0;
  shown_.clear();
  free_.resize(rows_.size());
  for (std::uint32_t i = 0; i < free_.size(); ++i) free_[i] = i;
  next_event_ = order_.empty() ? -1 : slants_[order_[0]].begin;
}

void Slants::compute(Shown& shown, int row) {
  const Slant& slant = slants_[shown.slant];
  shown.begin = row;
  shown.end = std::min(slant.end, row + kSlantRows);
  slant_rows(slant.x + static_cast<double>(row - slant.begin) * slant.step, slant.step, slant.across, shown.end - row,
             rows_[shown.place]);
}

void Slants::change(int row) {
  std::size_t kept = 0;
  int next_event = std::numeric_limits<int>::max();
  for (Shown shown : shown_) {
    if (shown.end == row) {
      if (slants_[shown.slant].end == row) {
        free_.push_back(shown.place);
        continue;
      }
      compute(shown, row);
    }
    next_event = std::min(next_event, shown.end);
    shown_[kept++] = shown;
  }
  shown_.resize(kept);
  for (; next_ < order_.size() && slants_[order_[next_]].begin == row; ++next_) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(rows_.size()));
      rows_.emplace_back();
    }
    Shown fresh{order_[next_], free_.back(), 0, 0};
    free_.pop_back();
    compute(fresh, row);
    next_event = std::min(next_event, fresh.end);
    std::size_t at = shown_.size();
    shown_.push_back(fresh);
    const int x = rows_[fresh.place].x[0];
    for (; at > 0 && this->at(at - 1, row).x > x; --at) shown_[at] = shown_[at - 1];
    shown_[at] = fresh;
  }
  if (next_ < order_.size()) next_event = std::min(next_event, slants_[order_[next_]].begin);
  next_event_ = next_event;
}

}  // namespace millrace::stroke
