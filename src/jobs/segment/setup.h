// Enters: options, a model's file and its card.
// Leaves: how a picture becomes the network's input, and what its output means, checked before the first window.
// Never: runs the network.
#pragma once

#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/jobs/segment/options.h"
#include "src/model/model_file.h"

namespace millrace::segment {

struct Setup {
  model::ModelFile file;
  std::int64_t height = 0, width = 0;  // of a window
  model::ChannelOrder input = model::ChannelOrder::rgb;
  std::vector<std::size_t> order;      // the picture's channel that each of the network's is
  std::vector<window::Levels> levels;  // by channel of the network
  model::Activation activation = model::Activation::none;
  double threshold = 0.5;
  model::Layout layout = model::Layout::nchw;
  std::vector<model::ClassCard> classes;  // of the card; empty where it names none

  // What the mask's numbers stand for: the colours of 0 and on, and whether they are drawn.
  struct Label {
    std::string name;
    std::array<std::uint8_t, 3> color;
    bool drawn;
  };
  std::vector<Label> labels() const;
  // A pixel of the mask is the likeliest class; or, where there is one alone or they do not exclude each other, 0 where
  // none is likely enough, else 1 and on.
  bool has_none() const { return classes.size() == 1 || activation == model::Activation::sigmoid; }
  std::vector<std::int64_t> input_shape() const;
  std::uint64_t input_elements() const { return order.size() * static_cast<std::uint64_t>(height * width); }
};

// Failure(usage) for options that are missing; (unsupported) for a model that takes or gives something else; and what
// reading the model and the card throws.
Setup set_up(const Options& options, const std::function<bool()>& cancelled);

// What the network gives for a window, [1, channels, height, width]: the channels. Failure(unsupported) where it is
// something else; (usage) for a threshold that means nothing then. Names the classes for which the card has no name.
std::size_t check_outputs(const Options& options, Setup& setup, const std::vector<model::Output>& outputs);

// What results are made of, for run.json and for whoever goes on.
Attributes made_of(const Options& options, const Setup& setup, const model::Session& session);

}  // namespace millrace::segment
