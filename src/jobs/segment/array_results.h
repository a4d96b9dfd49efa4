// Input: complete rows of an image's probabilities.
// Output: its masks, its probabilities and its counts, in memory.
// Never: accesses a file.
#pragma once

#include <vector>

#include "include/millrace/segment.h"
#include "src/jobs/segment/mask_rows.h"
#include "src/jobs/segment/result_sink.h"

namespace millrace::segment {

class ArrayResults : public ResultSink {
 public:
  // Writes the results into `out`, which must be new and outlive this object.
  ArrayResults(const Setup& setup, int width, int height, bool probabilities, SegmentedImage& out);

  void append(std::span<const float> row, std::span<const float> weights,
              std::span<const std::uint8_t> pixels) override;
  Outcome<PictureResult> finish(PictureResult result) override;

 private:
  const Setup& setup_;
  const std::size_t width_, height_;
  const bool probabilities_;
  SegmentedImage& out_;
  MaskRows masks_;
  std::size_t rows_ = 0;
};

}  // namespace millrace::segment
