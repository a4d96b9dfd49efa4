// Input: a network's file, its card, and a person's options.
// Output: the conversion of an image to its input, and the meaning of its outputs, checked before the first image.
// Never: runs the network.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/kernels/sliding_window/sliding_window.h"
#include "src/model/head.h"
#include "src/model/model_card.h"
#include "src/model/model_file.h"
#include "src/model/session.h"

namespace millrace::model {

struct PictureModelOptions {
  std::string model, card;  // paths
  std::optional<ChannelOrder> input;
  std::optional<Activation> activation;
  std::optional<double> threshold;
  std::optional<long long> window;
  Precision precision = Precision::f32;
  long long requests = 0;  // 0: one per thread
  bool mixed = false;      // results of several CPUs and runtimes are allowed
};

struct PictureModel {
  ModelFile file;
  ModelCard card;
  std::int64_t height = 0, width = 0;  // of its input
  ChannelOrder input = ChannelOrder::rgb;
  std::vector<std::size_t> order;          // index of the image's channel for each channel of the network
  std::vector<window::LevelTable> levels;  // by channel of the network
  TensorLayout layout = TensorLayout::nchw;
  bool mixed = false;       // as in PictureModelOptions
  std::vector<Head> heads;  // set once its outputs are known

  std::vector<std::int64_t> input_shape() const;
  std::uint64_t input_elements() const { return order.size() * static_cast<std::uint64_t>(height * width); }
};

// Throws Failure(usage) for missing options, (unsupported) for a model with another kind of input, and the errors of
// reading the model and the card.
PictureModel open_picture_model(const PictureModelOptions& options, const std::function<bool()>& cancelled);

// Returns the head of a model with one mask as large as the input. Throws Failure(unsupported) for another output, or
// for a model of preprocessed photographs; also the errors of make_heads().
const Head& check_one_mask(const PictureModelOptions& options, PictureModel& model, const std::vector<Output>& outputs);

// Provenance of its results, for the record of a run. The runtime and the CPU are "mixed" where they may be several.
Attributes make_provenance(const PictureModel& model, const Session& session);
// "OpenVINO 2026.4.1 on AMD EPYC": the rest that a result depends on.
std::string runtime_and_cpu_of(const Session& session);

}  // namespace millrace::model
