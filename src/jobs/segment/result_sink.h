// Input: complete rows of an image's probabilities, from the top.
// Output: its results, as files or arrays.
// Never: depends on how the rows were made.
#pragma once

#include <cstdint>
#include <span>

#include "src/jobs/segment/work_folder.h"

namespace millrace::segment {

class ResultSink {
 public:
  ResultSink() = default;
  virtual ~ResultSink() = default;
  ResultSink(const ResultSink&) = delete;
  ResultSink& operator=(const ResultSink&) = delete;

  // Takes the next row of all maps, [channels, width], activated. `weights` is 0 outside of all windows. `pixels` is
  // RGB if there is an overlay.
  virtual void append(std::span<const float> row, std::span<const float> weights,
                      std::span<const std::uint8_t> pixels) = 0;
  // Called at the end of a row of windows.
  virtual void mark() {}
  // Stores the state from which a later run resumes, with the counts of each head. Called after mark().
  virtual void save(ResumeState&) {}
  // Finishes the results; called after the last row. `result` has everything but masks: peaks, numbers, votes. Gives
  // Error(bad_data), and no results, if a value is not finite.
  virtual Outcome<PictureResult> finish(PictureResult result) = 0;
};

}  // namespace millrace::segment
