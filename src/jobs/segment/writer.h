// Input: rows of a picture's probabilities, and the picture's own.
// Output: its mask, probabilities, overlay and outlines as files, and what is counted of them.
// Never: leaves a file under its name that is not whole.
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
#include "src/jobs/segment/results.h"

namespace millrace::segment {

// What is written of a picture, and under which names in the folder of results.
struct Product {
  std::size_t head = 0;  // of which of the networks' heads it is
  std::string part;      // its name while it grows: "mask.png"
  std::string path;
  std::optional<RasterFormat> format;  // nothing: outlines
  RasterSpec spec;
};
std::vector<Product> products_of(const Options& options, const Setup& setup, const std::string& name, int width,
                                 int height);
// The file that says that the others are whole.
std::string record_path(const std::string& folder, const std::string& name);

class ResultWriter : public Results {
 public:
  // `saved`: from where it goes on; null: it begins. Failure where that is not there as it was.
  ResultWriter(const Options& options, const Setup& setup, std::string name, int width, int height,
               Unfinished& unfinished, const Saved* saved);
  // What it holds.
  static std::uint64_t bytes(const Options& options, const Setup& setup, int width, int height);

  void append(std::span<const float> row, std::span<const float> weights,
              std::span<const std::uint8_t> pixels) override;
  void mark() override;
  void save(Saved& out) override;
  // Files have their names; then the record says that they are whole.
  Outcome<PictureResult> finish(PictureResult result) override;

  // What an earlier run had written, all of it, before it was stopped while files got their names: they get them.
  // Nothing where it had not, or it is not of the picture as it is now.
  using IsOf = std::function<bool(const PictureResult& written)>;
  static std::optional<PictureResult> publish(const Options& options, const Setup& setup, const std::string& name,
                                              Unfinished& unfinished, const IsOf& is_of);
  // Failure(conflict) where something has the name of a result that no run has put there.
  static void check_names(const Options& options, const Setup& setup, const std::string& name, Unfinished& unfinished);

 private:
  // What is made of one head's mask.
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
  Unfinished& unfinished_;
  const std::string folder_;
  const std::size_t width_, height_;
  const std::vector<Product> products_;
  std::vector<std::unique_ptr<Raster>> rasters_;  // null for outlines
  MaskRows rows_;
  std::vector<Mask> masks_;  // of each head; of others than masks unused
};

}  // namespace millrace::segment
