// Input: rows of the probabilities of a picture's maps.
// Output: rows of its masks, and what is counted of these.
// Never: keeps a row longer than until the next one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/jobs/segment/record.h"

namespace millrace::segment {

class MaskRows {
 public:
  // Of a picture of these sides.
  MaskRows(const Setup& setup, int width, int height);

  // The next row of all maps, [channels, width], activated. `weights` is 0 where no window was.
  void take(std::span<const float> row, std::span<const float> weights);
  // Of the row that was taken last the mask of this head; empty where it makes none.
  std::span<const std::uint8_t> of(std::size_t head) const { return heads_[head].row; }
  // As far as they are known; means are sums yet.
  const std::vector<ClassResult>& counted(std::size_t head) const { return heads_[head].classes; }
  // Goes on behind so many rows, with what was counted of them. Failure(bad_data) where that cannot be.
  void restore(std::size_t head, const std::vector<ClassResult>& counted, std::uint64_t rows);
  // Behind the last row, into a result that has all else. Error(bad_data) where a number in it is not finite.
  Outcome<void> finish(PictureResult& result) const;

 private:
  struct Mask {
    std::vector<std::uint8_t> row;
    std::vector<ClassResult> classes;
  };
  void take(Mask& mask, const model::Head& head, std::span<const float> row, std::span<const float> weights) const;

  const Setup& setup_;
  const std::size_t width_, height_;
  std::vector<Mask> heads_;  // of others than masks unused
  std::uint64_t rows_ = 0;
};

}  // namespace millrace::segment
