// Input: rows of an image's probabilities, and its pixels.
// Output: its mask, probabilities, overlay and outlines as files, and their counts.
// Never: leaves an incomplete file under its name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/raster/raster.h"
#include "src/jobs/segment/mask_rows.h"
#include "src/jobs/segment/outlines.h"
#include "src/jobs/segment/result_sink.h"

namespace millrace::segment {

// Result file of an image, with its name in the results folder.
struct ResultFile {
  std::size_t head = 0;  // head of the networks that it belongs to
  std::string suffix;    // its name until it is published: "mask.png"
  std::string path;
  std::optional<RasterFormat> format;  // empty for outlines
  RasterSpec spec;
};
std::vector<ResultFile> list_result_files(const Options& options, const Setup& setup, const std::string& name,
                                          int width, int height);
// Returns the path of the record, which marks the other files as complete.
std::string record_path(const std::string& folder, const std::string& name);

class ResultWriter : public ResultSink {
 public:
  // `resume_state` is the checkpoint to resume from, or null. Throws a Failure if the files do not match it.
  ResultWriter(const Options& options, const Setup& setup, std::string name, int width, int height,
               WorkFolder& work_folder, const ResumeState* resume_state);
  // Returns the memory of the writer.
  static std::uint64_t bytes(const Options& options, const Setup& setup, int width, int height);

  void append(std::span<const float> row, std::span<const float> weights,
              std::span<const std::uint8_t> pixels) override;
  void mark() override;
  void save(ResumeState& out) override;
  // Publishes the files under their names, then the record that marks them as complete.
  Outcome<PictureResult> finish(PictureResult result) override;

  // Finishes publishing an image whose files were complete when an earlier run was killed during renaming. Returns
  // nothing if they were not complete, or belong to another version of the image.
  using IsCurrent = std::function<bool(const PictureResult& written)>;
  static std::optional<PictureResult> publish(const Options& options, const Setup& setup, const std::string& name,
                                              WorkFolder& work_folder, const IsCurrent& is_current);
  // Throws Failure(conflict) if a file or folder that no run has made has the name of a result.
  static void check_names(const Options& options, const Setup& setup, const std::string& name, WorkFolder& work_folder);

 private:
  // Results of one head's mask.
  struct Mask {
    std::vector<model::Head::Label> labels;
    std::vector<std::uint8_t> overlay;
    std::optional<Preview> preview;
    std::optional<Outlines> outlines;
  };
  static void blend(Mask& mask, std::span<const std::uint8_t> labels, std::span<const std::uint8_t> pixels);

  const Options& options_;
  const Setup& setup_;
  const std::string name_;
  WorkFolder& work_folder_;
  const std::string folder_;
  const std::size_t width_, height_;
  const std::vector<ResultFile> result_files_;
  std::vector<std::unique_ptr<RasterWriter>> rasters_;  // null for outlines
  MaskRows rows_;
  std::vector<Mask> masks_;  // per head; unused for heads without a mask
};

}  // namespace millrace::segment
