// Input: the user's options of `millrace segment`.
// Output: checked options; values that were not given are left to the model's card.
// Never: accesses a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/raster/raster.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/sliding_window/sliding_window.h"
#include "src/model/ensemble.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::segment {

// Results that are written per image, in addition to the tables.
struct OutputSelection {
  bool mask = false, probability = false, overlay = false, contours = false;
};

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> models, cards;  // several models form an ensemble
  model::PictureModelOptions network;      // common to all models
  // Uses bf16 if its masks agree with those of float32 to this Dice coefficient; if empty, `network` has the precision.
  std::optional<double> min_dice;
  model::Flips flips = model::Flips::none;
  std::optional<model::FlipMean> flip_mean;
  std::optional<model::Preprocess> preprocess;
  std::optional<long long> size;  // side of the square for --preprocess
  std::string roi;                // region image, or a folder of them
  std::string write_text = "mask";
  double overlap = 0.5;
  ShardSpec shard_spec;
  window::Importance importance = window::Importance::gaussian;
  window::Padding padding = window::Padding::reflect;
  RasterFormat format = RasterFormat::png;
  OutputSelection write{.mask = true};
  bool describe = false, skip_empty = false, report = false;
  // Images are streamed, and their memory is known before they are begun: slides of 10 gigapixels are no decompression
  // bombs.
  PictureFileOptions files = [] {
    PictureFileOptions out;
    out.max_pixels = 20'000'000'000;
    return out;
  }();
};

void describe(Settings& settings, Options& options);

}  // namespace millrace::segment
