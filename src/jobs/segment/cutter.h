// Input: a picture file, or rows of a picture.
// Output: its windows, one by one, as the picture is decoded; not those that nobody needs to look at.
// Never: holds more rows of it than a window has, but for those that lie decoded.
//
// Windows are cut by one thread, and results come to another; they meet only in what does not change.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/jobs/segment/region.h"
#include "src/jobs/segment/rows.h"
#include "src/memory/budget.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

class Cutter {
 public:
  // `name` is below the folder of results. Failure where it cannot be decoded, or padded.
  Cutter(const Options& options, const Setup& setup, const std::string& path, const std::string& name,
         RunContext& context);
  // `name` is what messages call the picture. Failure where it cannot be padded.
  Cutter(const Options& options, const Setup& setup, std::unique_ptr<Rows> rows, const std::string& name);
  // Before begin(): windows where these are black are left out. Failure where their sides are others.
  void look_in(std::unique_ptr<Rows> region, const std::string& name);

  const window::Axis& y() const { return *y_; }
  const window::Axis& x() const { return *x_; }
  std::uint64_t windows() const { return y_->starts().size() * x_->starts().size(); }
  // The state of the files that it reads.
  const std::string& source() const { return source_; }
  // What cutting it takes.
  Bytes needs() const;
  const Rows& rows() const { return *rows_; }
  // Makes room for its rows: behind whoever paid for it. The first window will be of this row of windows. `folder` is
  // as Rows has it.
  void begin(std::uint64_t first_row, const std::string& folder);
  // The next window, row after row, into what the networks take, one form after the other, each
  // [channels, height, width]. False behind the last one. Failure where the file
  // ends before.
  bool next(float* out, std::size_t& row, std::size_t& column);
  // Behind the last one.
  struct Finished {
    PictureRows::Finished picture;
    std::string roi;  // the hash of what says where to look; empty where nothing does
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
  std::unique_ptr<Rows> rows_;
  std::optional<window::Axis> y_, x_;
  std::optional<Region> region_;
  std::vector<std::vector<std::size_t>> orders_;  // of each form: the band's channel that each of the network's is
  Buffer<std::uint8_t> band_;                     // a ring of as many rows as a window has
  Buffer<std::uint8_t> touched_;      // of each row in the band: which columns of windows the region has something of
  std::vector<std::uint8_t> wanted_;  // of the row of windows
  std::int64_t decoded_ = 0;
  std::vector<const std::uint8_t*> of_window_;
  std::size_t row_ = 0, column_ = 0;
};

}  // namespace millrace::segment
