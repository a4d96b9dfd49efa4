// Input: what a person asks of `millrace segment`.
// Output: checked options; what nobody gave is left to the model's card.
// Never: touches a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/raster/raster.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/sliding_window/sliding_window.h"
#include "src/model/ensemble.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace::segment {

// What is written of a picture, beside the table of all.
struct Written {
  bool mask = false, probability = false, overlay = false, contours = false;
};

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> models, cards;  // several models are asked together
  model::PictureModelOptions network;      // what holds for all of them
  std::optional<double> least_dice;        // bf16 where masks agree with float32's to this; nothing: as `network` says
  model::Flips flips = model::Flips::none;
  std::optional<model::FlipMean> flip_mean;
  std::optional<model::Preprocess> preprocess;
  std::optional<long long> size;  // of the square that pictures are brought to
  std::string roi;                // a picture of where to look, or a folder of them
  std::string write_text = "mask";
  double overlap = 0.5;
  Share share;
  window::Importance importance = window::Importance::gaussian;
  window::Padding padding = window::Padding::reflect;
  RasterFormat format = RasterFormat::png;
  Written write{.mask = true};
  bool describe = false, skip_empty = false, report = false;
  // Pictures stream, and what they take is known before they are begun: slides of 10 gigapixels are no bombs.
  PictureFileOptions files = [] {
    PictureFileOptions out;
    out.max_pixels = 20'000'000'000;
    return out;
  }();
};

void describe(Settings& settings, Options& options);

}  // namespace millrace::segment
