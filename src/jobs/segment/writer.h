// Enters: rows of a picture's outputs, as the network and the blending left them, and the picture's own.
// Leaves: its mask, probabilities, overlay and outlines as files, and what is counted of them.
// Never: leaves a file under its name that is not whole.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/raster/raster.h"
#include "src/jobs/segment/outlines.h"
#include "src/jobs/segment/record.h"
#include "src/jobs/segment/unfinished.h"

namespace millrace::segment {

// What is written of a picture, and under which names in the folder of results.
struct Product {
  std::string part;  // its name while it grows: "mask.png"
  std::string path;
  std::optional<RasterFormat> format;  // nothing: outlines
  RasterSpec spec;
};
std::vector<Product> products_of(const Options& options, const Setup& setup, const std::string& name, int width,
                                 int height);
// The file that says that the others are whole.
std::string record_path(const std::string& folder, const std::string& name);

class ResultWriter {
 public:
  // `saved`: from where it goes on; null: it begins. Failure where that is not there as it was.
  ResultWriter(const Options& options, const Setup& setup, std::string name, int width, int height,
               Unfinished& unfinished, const Saved* saved);
  // What it holds.
  static std::uint64_t bytes(const Options& options, const Setup& setup, int width, int height);

  // The next row, [classes, width], before its activation; it is changed. `weights` is 0 where no window was. `pixels`
  // is RGB, where there is an overlay.
  void append(std::span<float> row, std::span<const float> weights, std::span<const std::uint8_t> pixels);
  // A row of windows ends here.
  void mark();
  // Behind a mark: what a run needs that goes on here.
  void save(Saved& out);
  // What an earlier run had written, all of it, before it was stopped while files got their names: they get them.
  // Nothing where it had not.
  static std::optional<PictureResult> publish(const Options& options, const Setup& setup, const std::string& name,
                                              Unfinished& unfinished);
  // Failure(conflict) where something has the name of a result that no run has put there.
  static void check_names(const Options& options, const Setup& setup, const std::string& name, Unfinished& unfinished);
  // Files have their names; then the record says that they are whole. Error(bad_data) where a number is not finite, and
  // no files.
  Outcome<PictureResult> finish(PictureResult result);

 private:
  void blend(std::span<const std::uint8_t> pixels);

  const Options& options_;
  const Setup& setup_;
  const std::string name_;
  Unfinished& unfinished_;
  const std::string folder_;
  const std::size_t width_, height_;
  const std::vector<Setup::Label> drawn_;
  const std::vector<Product> products_;
  std::vector<std::unique_ptr<Raster>> rasters_;  // null for outlines
  std::optional<Outlines> outlines_;
  std::vector<std::uint8_t> labels_, overlay_;
  std::vector<std::uint64_t> pixels_;
  std::vector<double> sums_;
};

}  // namespace millrace::segment
