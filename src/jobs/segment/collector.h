// Input: the networks' predictions for the windows of an image, in order.
// Output: the image's results, row by row as they are complete; at intervals, a checkpoint from which a later run
//   resumes.
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

// Parameters for collecting the results of an image.
struct CollectorParameters {
  const std::string& name;
  const window::WindowAxis &y, &x;
  const std::string& source;  // state of the image's file
  int width = 0, height = 0;  // of the image
  // Position on the image of the square that windows are cut from; null if they are cut from the image itself. There
  // are no checkpoints with a square.
  const fundus::FundusCrop* crop = nullptr;
  std::optional<ResumeState> resume_state;  // checkpoint to resume from
  bool sums_in_file = false;                // true if they do not fit into memory
  // Shortest time between checkpoints. They take at most a twentieth of the total time. 0: after every row of windows.
  std::chrono::milliseconds between_saves{250};
};

class Collector {
 public:
  // Writes the results to files. Throws a Failure if the checkpoint cannot be resumed, and Failure(io) if results
  // cannot be written.
  Collector(const Options& options, const Setup& setup, const CollectorParameters& of, WorkFolder& work_folder);
  // Passes the results to `results`. There are no checkpoints and no temporary files.
  Collector(const Options& options, const Setup& setup, const CollectorParameters& of,
            std::unique_ptr<ResultSink> results);
  // Opens the image for an overlay, which reads it a second time; called before the first window. Throws a Failure if
  // the file has changed or cannot be decoded.
  void open_photo(const std::string& path, RunContext& context);

  // Returns the memory for the image of this cutter, without results and overlay.
  static Bytes memory_cost(const Setup& setup, const Cutter& cutter, bool sums_in_file);
  // Returns the same memory including results and overlay, if results are files.
  static Bytes memory_cost_with_files(const Options& options, const Setup& setup, const Cutter& cutter,
                                      bool sums_in_file);
  // Returns the first row of windows that is needed to resume from the checkpoint.
  static std::uint64_t first_row(const window::WindowAxis& y, const std::optional<ResumeState>& resume_state);

  void add(std::size_t row, std::size_t column, const model::Prediction& result);
  // Finishes the results. `result` has the file's hash and the properties that the cutter found. Gives Error(bad_data)
  // if the network produced values that are not finite.
  Outcome<PictureResult> finish(PictureResult result);

 private:
  Collector(const Options& options, const Setup& setup, const CollectorParameters& of, WorkFolder* work_folder,
            std::unique_ptr<ResultSink> results);
  using Clock = std::chrono::steady_clock;
  void end_rows_before(std::size_t row);
  void activate();
  void find_peaks(std::int64_t y);
  void take_pixels();
  void project_to_photograph();
  bool is_seen(const fundus::CropInverse& way, std::int32_t x, std::int32_t y) const;
  static void check(const CollectorParameters& of);
  void save();

  const Options& options_;
  const Setup& setup_;
  const window::WindowAxis y_, x_;
  const std::string name_, source_;
  const int width_, height_;
  const std::optional<fundus::FundusCrop> crop_;
  WorkFolder* const work_folder_;  // null if there are no checkpoints
  std::unique_ptr<window::SumStore> store_;
  window::WindowBlender blend_;
  const std::unique_ptr<ResultSink> results_;
  std::unique_ptr<PictureRows> photo_;  // for the overlay
  std::optional<Error> failed_;         // reason why the image could not be read a second time
  std::vector<std::uint8_t> photo_row_, pixels_;
  std::vector<float> row_;
  std::vector<float> planes_;             // of the square: [channels, side, side], activated
  std::vector<std::uint8_t> is_covered_;  // of the square: 1 where windows were
  std::vector<HeadResult> heads_;         // peaks, numbers and votes, as far as they are known
  const std::int64_t written_before_;     // rows of the image that the run of the checkpoint has written
  const std::size_t ended_before_;        // rows of windows that it has completed
  std::size_t window_row_;                // row to which windows are being added
  std::int64_t next_ = 0;
  std::uint64_t windows_ = 0;
  const Clock::duration between_saves_;
  Clock::time_point saved_at_ = Clock::now();
  Clock::duration saving_takes_{};
};

}  // namespace millrace::segment
