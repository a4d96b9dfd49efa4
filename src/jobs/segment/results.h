// Input: rows of a picture's probabilities as they become whole, from the top.
// Output: its results, wherever they belong: files, or arrays.
// Never: knows how rows were made.
#pragma once

#include <cstdint>
#include <span>

#include "src/jobs/segment/unfinished.h"

namespace millrace::segment {

class Results {
 public:
  Results() = default;
  virtual ~Results() = default;
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  // The next row of all maps, [channels, width], activated. `weights` is 0 where no window was. `pixels` is RGB, where
  // there is an overlay.
  virtual void append(std::span<const float> row, std::span<const float> weights,
                      std::span<const std::uint8_t> pixels) = 0;
  // A row of windows ends here.
  virtual void mark() {}
  // Behind a mark: what a run needs that goes on here; of each head what was counted.
  virtual void save(Saved&) {}
  // Behind the last row. `result` has what is known of it beside masks: peaks, numbers, votes. Error(bad_data) where a
  // number is not finite, and no results.
  virtual Outcome<PictureResult> finish(PictureResult result) = 0;
};

}  // namespace millrace::segment
