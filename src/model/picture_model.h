// Input: a network's file, its card, and what a person says of it.
// Output: how a picture becomes its input, and what its outputs mean, checked before the first picture.
// Never: runs it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/kernels/sliding_window/sliding_window.h"
#include "src/model/card.h"
#include "src/model/head.h"
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
  long long requests = 0;  // 0: one a thread
  bool mixed = false;      // results may be of several CPUs and runtimes
};

struct PictureModel {
  ModelFile file;
  Card card;
  std::int64_t height = 0, width = 0;  // of its input
  ChannelOrder input = ChannelOrder::rgb;
  std::vector<std::size_t> order;      // the picture's channel that each of the network's is
  std::vector<window::Levels> levels;  // by channel of the network
  Layout layout = Layout::nchw;
  bool mixed = false;       // as PictureModelOptions has it
  std::vector<Head> heads;  // once it is known what it gives

  std::vector<std::int64_t> input_shape() const;
  std::uint64_t input_elements() const { return order.size() * static_cast<std::uint64_t>(height * width); }
};

// Failure(usage) for options that are missing; (unsupported) for a model that takes something else; and what reading
// the model and the card throws.
PictureModel open_picture_model(const PictureModelOptions& options, const std::function<bool()>& cancelled);

// Of one mask as large as the input: Failure(unsupported) where it gives something else, or is of preprocessed
// photographs. What it throws otherwise is heads_of()'s.
const Head& check_one_mask(const PictureModelOptions& options, PictureModel& model, const std::vector<Output>& outputs);

// What its results are made of, for a record of a run. The runtime and the CPU are "mixed" where they may be several.
Attributes made_of(const PictureModel& model, const Session& session);
// "OpenVINO 2026.4.1 on AMD EPYC": what else a result hangs on.
std::string maker_of(const Session& session);

}  // namespace millrace::model
