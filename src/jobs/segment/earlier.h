// Input: a picture, and the folder of results.
// Output: what an earlier run has made of it there, if that is whole and of the same.
// Never: believes results of another picture, or of another region in it.
#pragma once

#include <optional>

#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/record.h"

namespace millrace::segment {

class Earlier {
 public:
  Earlier(const Options& options, const Setup& setup, const RunContext& context)
      : options_(options), setup_(setup), context_(context) {}

  // All files of it are there, and its record says that they are of the picture that is there now.
  std::optional<PictureResult> done(const Input& input) const;
  // It was made of the picture that is there now, and of what says where to look in it.
  bool is_of(const Input& input, const PictureResult& result) const;
  // In bytes, of what stands behind a picture's name in those of its results.
  std::size_t longest_ending() const;

 private:
  const Options& options_;
  const Setup& setup_;
  const RunContext& context_;
};

}  // namespace millrace::segment
