// Input: M.json beside a model, or one that a person names.
// Output: what a model's file does not say: how pictures become its input, and what its outputs mean.
// Never: names a file, or anything that is run; takes a key that it does not know.
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

// rgb+enhanced: six, of a photograph that was preprocessed: red, green and blue, and these with their contrast
// enhanced.
enum class ChannelOrder : std::uint8_t { rgb, bgr, gray, enhanced };
constexpr std::array<Choice<ChannelOrder>, 4> choices_of(ChannelOrder) {
  return {{{"rgb", ChannelOrder::rgb},
           {"bgr", ChannelOrder::bgr},
           {"gray", ChannelOrder::gray},
           {"rgb+enhanced", ChannelOrder::enhanced}}};
}
std::size_t channels_of(ChannelOrder order);
// What an output is: of each pixel what it shows; of the picture which class it is, or numbers; or of each pixel how
// likely it is a point that is looked for.
enum class Task : std::uint8_t { segmentation, classification, regression, keypoints };
constexpr std::array<Choice<Task>, 4> choices_of(Task) {
  return {{{"segmentation", Task::segmentation},
           {"classification", Task::classification},
           {"regression", Task::regression},
           {"keypoints", Task::keypoints}}};
}
// What windows are cut of: the picture itself; the square around a fundus photograph's field of view; the picture,
// padded to a square.
enum class Preprocess : std::uint8_t { none, fundus, square };
constexpr std::array<Choice<Preprocess>, 3> choices_of(Preprocess) {
  return {{{"none", Preprocess::none}, {"fundus", Preprocess::fundus}, {"square", Preprocess::square}}};
}
// What makes probabilities of a network's outputs.
enum class Activation : std::uint8_t { none, sigmoid, softmax };
constexpr std::array<Choice<Activation>, 3> choices_of(Activation) {
  return {{{"none", Activation::none}, {"sigmoid", Activation::sigmoid}, {"softmax", Activation::softmax}}};
}

struct ClassCard {
  std::string name;
  std::optional<std::array<std::uint8_t, 3>> color{};  // nothing: one of our own
  bool drawn = true;                                   // into overlays and outlines; of "color": null not
};
inline constexpr std::size_t kMostClasses = 4096;  // of one output
// Told apart at a glance, also by the colour-blind (Okabe and Ito 2008); the first is what is none.
inline constexpr std::size_t kColorCount = 8;  // then they begin anew
std::array<std::uint8_t, 3> class_color(std::size_t k);
// Where a channel lies in the network's input and output: before the sides, or behind them.
enum class Layout : std::uint8_t { nchw, nhwc };
constexpr std::array<Choice<Layout>, 2> choices_of(Layout) {
  return {{{"nchw", Layout::nchw}, {"nhwc", Layout::nhwc}}};
}

// What an output means. Every key may be missing.
struct OutputCard {
  std::optional<Task> task;
  std::optional<Activation> activation;
  std::vector<ClassCard> classes;  // in the order of its channels
  std::optional<double> threshold;
};

// Every key may be missing.
struct Card {
  std::optional<ChannelOrder> input;
  std::optional<Layout> layout;
  // A pixel v of 0..255 becomes ((low + v / 255 * (high - low)) - mean) / std, in float32, by channel of the input.
  std::optional<std::array<float, 2>> range;
  std::vector<float> mean, std;
  std::optional<std::int64_t> window;
  std::optional<Preprocess> preprocess;
  std::optional<std::int64_t> size;  // of the square
  OutputCard output;                 // of the one that there is
  // Of several, those that count, by the network's names for them, in this order.
  std::vector<std::pair<std::string, OutputCard>> outputs;
};

// Of red, green and blue, as networks that began with ImageNet take them.
inline constexpr std::array<double, 3> kImageNetMean = {0.485, 0.456, 0.406}, kImageNetStd = {0.229, 0.224, 0.225};

// "M.json" for "M.onnx".
std::string card_beside(const std::string& model);
// Failure(bad_data) that names the key, what is wrong with it, and what it may be; (not_found, io).
Card read_card(const std::string& path);
Card card_of(const std::string& text, const std::string& path);
// "class 1", or "class 0" and on where there are several, of which the first is what is none.
std::vector<ClassCard> unnamed_classes(std::size_t count);
// A first card for a model: what can be guessed from its file, and every key with a value to start from.
std::string describe(const OnnxFile& onnx);

}  // namespace millrace::model
