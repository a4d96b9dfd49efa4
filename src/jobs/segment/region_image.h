// Input: rows of an image that is black where segmentation is not needed.
// Output: for each row, the columns of windows in which it is not black.
// Never: holds more than a row of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/jobs/segment/pixel_rows.h"
#include "src/kernels/sliding_window/sliding_window.h"

namespace millrace::segment {

// Returns the path of the region image for an image `name`, a path relative to the results folder; empty without --roi.
// Throws Failure(not_found) if there is none.
std::string region_path(const Options& options, const std::string& name);

class RegionImage {
 public:
  // Throws Failure(bad_data) with the region's name if its sides differ from the image's.
  RegionImage(std::unique_ptr<PixelRows> rows, const std::string& name, const window::WindowAxis& y,
              const window::WindowAxis& x);

  // Starts decoding; the memory must be reserved already.
  void begin() { rows_->begin(""); }
  // Reads the next row. `touched` has an element per column of windows. It becomes 1 if the row has a pixel there that
  // is not black, else 0.
  void take(std::uint8_t* touched);
  Bytes memory_cost() const;
  // Returns the hash of the file, in hexadecimal; called after the last row.
  std::string finish();
  // Returns the state of the file.
  const std::string& source() const { return rows_->source(); }

 private:
  const window::WindowAxis& x_;
  const std::unique_ptr<PixelRows> rows_;
  std::vector<std::uint8_t> row_;
  std::vector<std::uint32_t> before_;  // for each column, pixels to its left that are not black
};

}  // namespace millrace::segment
