// Enters: a network's file, its card, and what a person says of it.
// Leaves: how a picture becomes its input, and what its output means, checked before the first picture.
// Never: runs it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/kernels/sliding_window/sliding_window.h"
#include "src/model/card.h"
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
};

struct PictureModel {
  ModelFile file;
  std::int64_t height = 0, width = 0;  // of its input
  ChannelOrder input = ChannelOrder::rgb;
  std::vector<std::size_t> order;      // the picture's channel that each of the network's is
  std::vector<window::Levels> levels;  // by channel of the network
  Activation activation = Activation::none;
  double threshold = 0.5;
  Layout layout = Layout::nchw;
  std::vector<ClassCard> classes;  // of the card; empty where it names none

  // What the mask's numbers stand for: the colours of 0 and on, and whether they are drawn.
  struct Label {
    std::string name;
    std::array<std::uint8_t, 3> color;
    bool drawn;
  };
  std::vector<Label> labels() const;
  // A pixel of the mask is the likeliest class; or, where there is one alone or they do not exclude each other, 0 where
  // none is likely enough, else 1 and on.
  bool has_none() const { return classes.size() == 1 || activation == Activation::sigmoid; }
  std::vector<std::int64_t> input_shape() const;
  std::uint64_t input_elements() const { return order.size() * static_cast<std::uint64_t>(height * width); }
};

// Failure(usage) for options that are missing; (unsupported) for a model that takes or gives something else; and what
// reading the model and the card throws.
PictureModel open_picture_model(const PictureModelOptions& options, const std::function<bool()>& cancelled);

// What the network gives for a picture, [1, channels, height, width]: the channels. Failure(unsupported) where it is
// something else; (usage) for a threshold that means nothing then. Names the classes for which the card has no name.
std::size_t check_outputs(const PictureModelOptions& options, PictureModel& model, const std::vector<Output>& outputs);

// What its results are made of, for a record of a run.
Attributes made_of(const PictureModel& model, const Session& session);

}  // namespace millrace::model
