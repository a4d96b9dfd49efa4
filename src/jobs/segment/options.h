// Enters: what a person asks of `millrace segment`.
// Leaves: checked options; what nobody gave is left to the model's card.
// Never: touches a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/raster/raster.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/sliding_window/sliding_window.h"
#include "src/model/card.h"
#include "src/model/session.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace::segment {

// What is written of a picture, beside the table of all.
struct Written {
  bool mask = false, probability = false, overlay = false, contours = false;
};

struct Options {
  std::vector<std::string> inputs;
  std::string output, model, card;
  std::string roi;  // a picture of where to look, or a folder of them
  std::string write_text = "mask";
  double overlap = 0.5;
  long long requests = 0;  // 0: one a thread
  std::optional<double> threshold;
  std::optional<long long> window;
  Share share;
  std::optional<model::ChannelOrder> input;
  std::optional<model::Activation> activation;
  window::Importance importance = window::Importance::gaussian;
  window::Padding padding = window::Padding::reflect;
  model::Precision precision = model::Precision::f32;
  RasterFormat format = RasterFormat::png;
  Written write{.mask = true};
  bool describe = false, skip_empty = false;
  // Pictures stream, and what they take is known before they are begun: slides of 10 gigapixels are no bombs.
  PictureFileOptions files = [] {
    PictureFileOptions out;
    out.max_pixels = 20'000'000'000;
    return out;
  }();
};

void describe(Settings& settings, Options& options);

}  // namespace millrace::segment
