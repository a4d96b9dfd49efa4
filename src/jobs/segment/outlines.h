// Input: rows of labels, as they become known.
// Output: the outlines of connected regions, as GeoJSON, once all rows are there.
// Never: holds more memory than bytes() says: rows are stored in a file, run-length coded, from which a later run
//   resumes.
#pragma once

#include <string>
#include <vector>

#include "src/io/file/resumable_file.h"
#include "src/kernels/contours/contours.h"
#include "src/model/head.h"

namespace millrace::segment {

class Outlines {
 public:
  // Stores rows in `file`, in a folder that belongs to this run alone. `resume_state` is the value that save()
  // returned; if empty, there are no rows yet.
  Outlines(std::vector<model::Head::Label> labels, std::size_t width, std::size_t height, const std::string& file,
           const std::string& resume_state);

  void append(std::span<const std::uint8_t> labels);
  std::string save();
  // Traces the outlines and writes them as RFC 7946 GeoJSON, in pixel coordinates, with features that QuPath reads.
  // Returns the rows along which outlines were cut, as they had too many corners. Throws Failure(bad_data) if the
  // stored rows are damaged.
  std::vector<std::uint32_t> write(const std::string& path) const;
  // Returns the memory for tracing.
  static std::uint64_t bytes(std::uint64_t width);

 private:
  const std::vector<model::Head::Label> labels_;
  const std::size_t width_, height_;
  ResumableFile runs_;
  std::vector<LabelRun> row_;
  std::vector<std::byte> pending_;
  std::uint64_t rows_ = 0;
};

}  // namespace millrace::segment
