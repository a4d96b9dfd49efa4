// Input: an image file, or rows of an image.
// Output: its windows, one by one, while the image is decoded; windows that need not be segmented are left out.
// Never: holds more rows of the image than a window has, except for rows that were decoded ahead.
//
// Windows are cut by one thread, and another receives their results. They share only data that does not change.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/jobs/segment/pixel_rows.h"
#include "src/jobs/segment/region_image.h"
#include "src/memory/budget.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

class Cutter {
 public:
  // `name` is the image's path relative to the folder of results. Throws a Failure if the image cannot be decoded or
  // padded.
  Cutter(const Options& options, const Setup& setup, const std::string& path, const std::string& name,
         RunContext& context);
  // `name` is the image's name in messages. Throws a Failure if it cannot be padded.
  Cutter(const Options& options, const Setup& setup, std::unique_ptr<PixelRows> rows, const std::string& name);
  // Leaves out windows where this image is black; called before begin(). Throws a Failure if its sides differ.
  void set_region(std::unique_ptr<PixelRows> region, const std::string& name);

  const window::WindowAxis& y() const { return *y_; }
  const window::WindowAxis& x() const { return *x_; }
  std::uint64_t windows() const { return y_->starts().size() * x_->starts().size(); }
  // Returns the state of the files that are read.
  const std::string& source() const { return source_; }
  // Returns the memory for cutting.
  Bytes memory_cost() const;
  const PixelRows& rows() const { return *rows_; }
  // Allocates the rows; their memory must be reserved already. The first window will be in row `first_row` of windows.
  // `folder` is as in PixelRows::begin().
  void begin(std::uint64_t first_row, const std::string& folder);
  // Writes the next window, in row order, to `out` in the networks' input formats, one after the other, each [channels,
  // height, width]. Returns false after the last window. Throws a Failure if the file ends early.
  bool next(float* out, std::size_t& row, std::size_t& column);
  // Results of finish(), which is called after the last window.
  struct Finished {
    PictureRows::Finished picture;
    std::string roi;  // hash of the region image; empty if there is none
  };
  Finished finish();

 private:
  void fill(std::int64_t until);
  bool is_wanted(std::int64_t first) const;
  std::size_t slot(std::int64_t r) const { return static_cast<std::size_t>(r % y_->window()); }
  std::uint8_t* row(std::int64_t r) { return band_.data() + slot(r) * rows_->row_bytes(); }

  const Options& options_;
  const Setup& setup_;
  std::string source_;
  std::unique_ptr<PixelRows> rows_;
  std::optional<window::WindowAxis> y_, x_;
  std::optional<RegionImage> region_;
  // Channels of the band, for each input format and each channel of the network in it.
  std::vector<std::vector<std::size_t>> orders_;
  Buffer<std::uint8_t> band_;         // ring buffer with as many rows as a window has
  Buffer<std::uint8_t> touched_;      // per row of the band: columns of windows that the region touches
  std::vector<std::uint8_t> wanted_;  // of the current row of windows
  std::int64_t decoded_ = 0;
  std::vector<const std::uint8_t*> of_window_;
  std::size_t row_ = 0, column_ = 0;
};

}  // namespace millrace::segment
