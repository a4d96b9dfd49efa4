// Input: rows of a picture that is black where nobody needs to look.
// Output: of each row, which windows it has something of.
// Never: holds more of it than a row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/jobs/segment/rows.h"
#include "src/kernels/sliding_window/sliding_window.h"

namespace millrace::segment {

// Where --roi has the one of a picture, `name` below the folder of results; empty without --roi. Failure(not_found).
std::string region_path(const Options& options, const std::string& name);

class Region {
 public:
  // Failure(bad_data) that names it where its sides are not the picture's.
  Region(std::unique_ptr<Rows> rows, const std::string& name, const window::Axis& y, const window::Axis& x);

  // Behind whoever paid for it.
  void begin() { rows_->begin(""); }
  // Of the next row: for each column of windows, whether it lies in one of them with a pixel that is not black.
  void take(std::uint8_t* touched);
  Bytes needs() const;
  // Behind the last row: the hash of its file, in hexadecimal.
  std::string finish();
  // The state of its file.
  const std::string& source() const { return rows_->source(); }

 private:
  const window::Axis& x_;
  const std::unique_ptr<Rows> rows_;
  std::vector<std::uint8_t> row_;
  std::vector<std::uint32_t> before_;  // pixels that are not black, left of each column
};

}  // namespace millrace::segment
