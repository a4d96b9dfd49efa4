// Input: rows of the probabilities of an image's maps.
// Output: rows of its masks, and their counts.
// Never: keeps a row longer than until the next one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/jobs/segment/record.h"

namespace millrace::segment {

class MaskRows {
 public:
  // `width` and `height` are the sides of the image.
  MaskRows(const Setup& setup, int width, int height);

  // Takes the next row of all maps, [channels, width], activated. `weights` is 0 outside of all windows.
  void take(std::span<const float> row, std::span<const float> weights);
  // Returns the last row of the mask of this head; empty if the head has no mask.
  std::span<const std::uint8_t> mask_row(std::size_t head) const { return heads_[head].row; }
  // Returns the counts so far; their means are still sums.
  const std::vector<ClassResult>& class_counts(std::size_t head) const { return heads_[head].classes; }
  // Resumes after `rows` rows with their counts. Throws Failure(bad_data) if these are impossible.
  void restore(std::size_t head, const std::vector<ClassResult>& class_counts, std::uint64_t rows);
  // Adds the counts to a result that has everything else; called after the last row. Gives Error(bad_data) if one of
  // its values is not finite.
  Outcome<void> finish(PictureResult& result) const;

 private:
  struct Mask {
    std::vector<std::uint8_t> row;
    std::vector<ClassResult> classes;
  };
  void take(Mask& mask, const model::Head& head, std::span<const float> row, std::span<const float> weights) const;

  const Setup& setup_;
  const std::size_t width_, height_;
  std::vector<Mask> heads_;  // per head; unused for heads without a mask
  std::uint64_t rows_ = 0;
};

}  // namespace millrace::segment
