// Input: in their order, what the network made of a picture's windows.
// Output: its results, row by row as they are whole; and, now and then, what a later run needs to go on.
// Never: holds more rows of sums than a window has.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "src/io/file/scratch_file.h"
#include "src/io/image/picture_rows.h"
#include "src/jobs/segment/cutter.h"
#include "src/jobs/segment/writer.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

// How the results of a picture are put together.
struct Collecting {
  const std::string& name;
  const window::Axis &y, &x;
  const std::string& source;  // the state of the picture's file
  int width = 0, height = 0;  // of the picture
  // Where the square lies on it that windows are cut of; null where they are cut of the picture. There is nothing saved
  // then.
  const fundus::Crop* crop = nullptr;
  std::optional<Saved> saved;  // from where it goes on
  bool sums_in_file = false;   // they do not fit into memory
  // At least; saving takes no more than a twentieth of the time. 0: behind every row of windows.
  std::chrono::milliseconds between_saves{250};
};

class Collector {
 public:
  // Into files. Failure where there is nothing to go on with as it was saved; (io) where results cannot be written.
  Collector(const Options& options, const Setup& setup, const Collecting& of, Unfinished& unfinished);
  // Into anything else, and nothing is saved, or lies in a file, on the way.
  Collector(const Options& options, const Setup& setup, const Collecting& of, std::unique_ptr<Results> results);
  // Before the first window, where an overlay is made: of this picture, which is read a second time. Failure where it
  // is another by now, or cannot be decoded.
  void open_photo(const std::string& path, RunContext& context);

  // What it takes for the picture of this cutter, beside results and an overlay.
  static Bytes needs(const Setup& setup, const Cutter& cutter, bool sums_in_file);
  // The same with both, in files.
  static Bytes needs_with_files(const Options& options, const Setup& setup, const Cutter& cutter, bool sums_in_file);
  // The row of windows from which on it needs them all, so that it can go on behind what was saved.
  static std::uint64_t first_row(const window::Axis& y, const std::optional<Saved>& saved);

  void add(std::size_t row, std::size_t column, const model::Prediction& result);
  // `result` has its hash, and what was said of it by whoever cut it. Error(bad_data) where the network gave no
  // numbers.
  Outcome<PictureResult> finish(PictureResult result);

 private:
  Collector(const Options& options, const Setup& setup, const Collecting& of, Unfinished* unfinished,
            std::unique_ptr<Results> results);
  using Clock = std::chrono::steady_clock;
  void end_rows_before(std::size_t row);
  void activate();
  void find_peaks(std::int64_t y);
  void take_pixels();
  void bring_back();
  bool is_seen(const fundus::WayBack& way, std::int32_t x, std::int32_t y) const;
  static void check(const Collecting& of);
  void save();

  const Options& options_;
  const Setup& setup_;
  const window::Axis y_, x_;
  const std::string name_, source_;
  const int width_, height_;
  const std::optional<fundus::Crop> crop_;
  Unfinished* const unfinished_;  // null: nothing is saved
  std::unique_ptr<window::SumStore> store_;
  window::Blend blend_;
  const std::unique_ptr<Results> results_;
  std::unique_ptr<PictureRows> photo_;  // for the overlay
  std::optional<Error> failed_;         // why it could not be read a second time
  std::vector<std::uint8_t> photo_row_, pixels_;
  std::vector<float> row_;
  std::vector<float> planes_;             // of the square: [channels, side, side], activated
  std::vector<std::uint8_t> is_covered_;  // of the square: where windows were
  std::vector<HeadResult> heads_;         // peaks, numbers and votes, as far as they are known
  const std::int64_t written_before_;     // rows of the image, by the run that saved them
  const std::size_t ended_before_;        // rows of windows
  std::size_t window_row_;                // that windows are being added to
  std::int64_t next_ = 0;
  std::uint64_t windows_ = 0;
  const Clock::duration between_saves_;
  Clock::time_point saved_at_ = Clock::now();
  Clock::duration saving_takes_{};
};

}  // namespace millrace::segment
