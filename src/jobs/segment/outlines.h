// Input: rows of labels, as they become known.
// Output: the outlines of what hangs together, as GeoJSON, once all rows are there.
// Never: holds more of them than bytes() says: the rows wait in a file, as runs, from where a later run goes on.
#pragma once

#include <string>
#include <vector>

#include "src/io/file/growing_file.h"
#include "src/kernels/contours/contours.h"
#include "src/model/head.h"

namespace millrace::segment {

class Outlines {
 public:
  // Its rows wait in `file`, in a folder that is this run's. `saved`: what save() gave; empty: it begins.
  Outlines(std::vector<model::Head::Label> labels, std::size_t width, std::size_t height, const std::string& file,
           const std::string& saved);

  void append(std::span<const std::uint8_t> labels);
  std::string save();
  // Failure(bad_data) where what was saved is not those rows. Follows them: RFC 7946, of pixels, in features as QuPath
  // reads them. Rows along which they are cut, as they had too many corners.
  std::vector<std::uint32_t> write(const std::string& path) const;
  // What following them takes.
  static std::uint64_t bytes(std::uint64_t width);

 private:
  const std::vector<model::Head::Label> labels_;
  const std::size_t width_, height_;
  GrowingFile runs_;
  std::vector<LabelRun> row_;
  std::vector<std::byte> pending_;
  std::uint64_t rows_ = 0;
};

}  // namespace millrace::segment
