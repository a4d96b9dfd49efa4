// Enters: a picture file; and, in their order, what the network made of its windows.
// Leaves: its windows, one by one, as the picture is decoded; and its results, row by row as they are whole.
// Never: holds more rows of it than a window has, but for those that lie decoded.
//
// Windows are cut by one thread, and results come to another; they meet only in what does not change.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "src/io/image/picture_rows.h"
#include "src/jobs/segment/results.h"
#include "src/memory/budget.h"

namespace millrace::segment {

// The windows of a picture, from its rows.
class Cutter {
 public:
  // Failure where it cannot be decoded, or padded.
  Cutter(const Options& options, const Setup& setup, const std::string& path, RunContext& context);

  const window::Axis& y() const { return *y_; }
  const window::Axis& x() const { return *x_; }
  // What cutting and blending it takes.
  Bytes needs() const;
  // Makes room for its rows: behind whoever paid for it.
  void begin();
  // The next window, row after row, into [channels, height, width]. False behind the last one. Failure where the file
  // ends before.
  bool next(float* out, std::size_t& row, std::size_t& column);
  // Behind the last one.
  PictureRows::Finished finish();

 private:
  void fill(std::int64_t until);
  std::size_t row_bytes() const { return static_cast<std::size_t>(x_->size()) * pixel_; }
  std::uint8_t* row(std::int64_t r) { return band_.data() + static_cast<std::size_t>(r % y_->window()) * row_bytes(); }

  const Options& options_;
  const int classes_;
  std::unique_ptr<PictureRows> rows_;
  std::optional<window::Axis> y_, x_;
  std::vector<std::size_t> order_;  // the band's channel that each of the network's is
  const std::vector<window::Levels>& levels_;
  std::size_t pixel_ = 3;       // bytes of one in the band
  Buffer<std::uint8_t> band_;   // a ring of as many rows as a window has
  Buffer<std::uint8_t> color_;  // a row of which luma is made
  std::int64_t decoded_ = 0;
  std::vector<const std::uint8_t*> of_window_;
  std::size_t row_ = 0, column_ = 0;
};

// The results of a picture, from its windows.
class Collector {
 public:
  Collector(const Options& options, const Setup& setup, const std::string& name, const window::Axis& y,
            const window::Axis& x);

  void add(std::size_t row, std::size_t column, const float* result);
  Outcome<PictureResult> finish(PictureResult result);

 private:
  const window::Axis &y_, &x_;
  window::Blend blend_;
  ResultWriter writer_;
  std::vector<float> row_;
  std::int64_t next_ = 0;
  std::uint64_t windows_ = 0;
};

}  // namespace millrace::segment
