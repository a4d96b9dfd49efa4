// Input: an image, and the results folder.
// Output: the results of an earlier run for it, if they are complete and have the same provenance.
// Never: trusts results of another image, or of another region in it.
#pragma once

#include <optional>

#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/record.h"

namespace millrace::segment {

class PreviousRun {
 public:
  PreviousRun(const Options& options, const Setup& setup, const RunContext& context)
      : options_(options), setup_(setup), context_(context) {}

  // Returns the results if all files exist and their record matches the current image; else nothing.
  std::optional<PictureResult> find_finished(const SegmentInput& input) const;
  // True if the results were made from the current image and its current region image.
  bool is_current(const SegmentInput& input, const PictureResult& result) const;
  // Returns the longest suffix, in bytes, that results append to an image's name.
  std::size_t max_suffix_bytes() const;

 private:
  const Options& options_;
  const Setup& setup_;
  const RunContext& context_;
};

}  // namespace millrace::segment
