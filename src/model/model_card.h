// Input: the file M.json beside a model M.onnx, or a file that a person names.
// Output: facts that a model's file does not contain: how images become its input, and what its outputs mean.
// Never: names a file, or anything that is executed; accepts an unknown key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/choice.h"
#include "src/base/error.h"
#include "src/model/onnx/onnx_file.h"

namespace millrace::model {

// Channels of the input. rgb+enhanced has six, from a preprocessed photograph: red, green and blue, and the same with
// enhanced contrast.
enum class ChannelOrder : std::uint8_t { rgb, bgr, gray, enhanced };
constexpr std::array<Choice<ChannelOrder>, 4> choices_of(ChannelOrder) {
  return {{{"rgb", ChannelOrder::rgb},
           {"bgr", ChannelOrder::bgr},
           {"gray", ChannelOrder::gray},
           {"rgb+enhanced", ChannelOrder::enhanced}}};
}
std::size_t channels_of(ChannelOrder order);
// Kind of an output: a class for each pixel; a class for the image, or numbers; or for each pixel the likelihood of a
// point.
enum class ModelTask : std::uint8_t { segmentation, classification, regression, keypoints };
constexpr std::array<Choice<ModelTask>, 4> choices_of(ModelTask) {
  return {{{"segmentation", ModelTask::segmentation},
           {"classification", ModelTask::classification},
           {"regression", ModelTask::regression},
           {"keypoints", ModelTask::keypoints}}};
}
// Source of the windows: the image itself; the square around the field of view of a fundus photograph; the image
// padded to a square.
enum class Preprocess : std::uint8_t { none, fundus, square };
constexpr std::array<Choice<Preprocess>, 3> choices_of(Preprocess) {
  return {{{"none", Preprocess::none}, {"fundus", Preprocess::fundus}, {"square", Preprocess::square}}};
}
// Function that turns a network's outputs into probabilities.
enum class Activation : std::uint8_t { none, sigmoid, softmax };
constexpr std::array<Choice<Activation>, 3> choices_of(Activation) {
  return {{{"none", Activation::none}, {"sigmoid", Activation::sigmoid}, {"softmax", Activation::softmax}}};
}

struct ClassCard {
  std::string name;
  std::optional<std::array<std::uint8_t, 3>> color{};  // none: one of class_color()
  bool drawn = true;                                   // in overlays and outlines; false for "color": null
};
inline constexpr std::size_t kMaxClasses = 4096;  // of one output
// Colours that are easy to distinguish, also for the colour-blind (Okabe and Ito 2008); the first is that of the
// background.
inline constexpr std::size_t kColorCount = 8;  // then they repeat
std::array<std::uint8_t, 3> class_color(std::size_t k);
// Position of the channels in the network's input and output: before height and width, or after them.
enum class TensorLayout : std::uint8_t { nchw, nhwc };
constexpr std::array<Choice<TensorLayout>, 2> choices_of(TensorLayout) {
  return {{{"nchw", TensorLayout::nchw}, {"nhwc", TensorLayout::nhwc}}};
}

// Meaning of an output. Every key is optional.
struct OutputCard {
  std::optional<ModelTask> task;
  std::optional<Activation> activation;
  std::vector<ClassCard> classes;  // in the order of its channels
  std::optional<double> threshold;
};

// Contents of a model card. Every key is optional.
struct ModelCard {
  std::optional<ChannelOrder> input;
  std::optional<TensorLayout> layout;
  // A pixel v of 0..255 becomes ((low + v / 255 * (high - low)) - mean) / std, in float32, for each channel of the
  // input.
  std::optional<std::array<float, 2>> range;
  std::vector<float> mean, std;
  std::optional<std::int64_t> window;
  std::optional<Preprocess> preprocess;
  std::optional<std::int64_t> size;  // side of the square
  OutputCard output;                 // meaning of the only output
  // Outputs that are used, if there are several: by the network's names for them, in this order.
  std::vector<std::pair<std::string, OutputCard>> outputs;
};

// Values for red, green and blue, as used by networks that were pretrained on ImageNet.
inline constexpr std::array<double, 3> kImageNetMean = {0.485, 0.456, 0.406}, kImageNetStd = {0.229, 0.224, 0.225};

// Returns "M.json" for "M.onnx".
std::string card_path_of(const std::string& model);
// These two throw Failure(bad_data) with the key, its fault, and the values that are allowed; (not_found, io).
ModelCard read_card(const std::string& path);
ModelCard parse_card(const std::string& text, const std::string& path);
// Returns "class 1"; or "class 0" and following where there are several, of which the first is the background.
std::vector<ClassCard> make_unnamed_classes(std::size_t count);
// Makes a first card for a model: facts that can be guessed from its file, and a starting value for every key.
std::string describe(const OnnxFile& onnx);

}  // namespace millrace::model
