#include "src/model/model_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/edit_distance.h"
#include "src/base/json.h"
#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"

namespace millrace::model {
namespace {

constexpr std::uint64_t kMaxCardBytes = 1 << 20;
constexpr std::int64_t kMaxSquareSide = 8192;
constexpr std::array<std::string_view, 13> kKeys = {"input",      "layout",  "range",     "mean", "std",
                                                    "activation", "classes", "threshold", "task", "preprocess",
                                                    "size",       "window",  "outputs"};
constexpr std::array<std::array<std::uint8_t, 3>, kColorCount> kColors = {{{0, 0, 0},
                                                                           {230, 159, 0},
                                                                           {86, 180, 233},
                                                                           {0, 158, 115},
                                                                           {240, 228, 66},
                                                                           {0, 114, 178},
                                                                           {213, 94, 0},
                                                                           {204, 121, 167}}};

class CardReader {
 public:
  explicit CardReader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string& key, const std::string& wanted) const {
    throw Failure(ErrorCode::bad_data, fmt::format("the model card's '{}' is not {}", escape_unprintable(key), wanted),
                  path_, "docs/segment.md lists the keys; millrace segment --describe --model MODEL writes a card");
  }
  double number(const Json& value, const std::string& key) const {
    if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(key, "a number");
    return value.get<double>();
  }
  std::vector<float> numbers(const Json& value, const std::string& key) const {
    if (!value.is_array() || value.empty() || value.size() > 128) refuse(key, "a list of numbers, one per channel");
    std::vector<float> out;
    for (const Json& each : value) out.push_back(static_cast<float>(number(each, key)));
    return out;
  }
  template <typename E>
  E choice(const Json& value, const std::string& key) const {
    std::string all;
    for (const auto& each : choices_of(E{})) {
      if (value.is_string() && value.get<std::string>() == each.name) return each.value;
      all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
    }
    refuse(key, "one of " + all);
  }
  std::array<std::uint8_t, 3> color(const Json& value, const std::string& key) const {
    const auto out = value.is_string() ? parse_color(value.get<std::string>()) : std::nullopt;
    if (!out) refuse(key, "a color such as #e69f00");
    return *out;
  }
  std::vector<ClassCard> classes(const Json& value) const {
    if (!value.is_array() || value.empty() || value.size() > kMaxClasses)
      refuse("classes", "a list of 1 to 4096 classes");
    std::vector<ClassCard> out;
    for (const Json& each : value) {
      ClassCard one;
      if (!each.is_object() || !each.contains("name")) refuse("classes", "a list of {\"name\": ..., \"color\": ...}");
      for (const auto& [key, part] : each.items()) {
        if (key == "name" && part.is_string()) {
          one.name = part.get<std::string>();
        } else if (key == "color" && part.is_null()) {
          one.drawn = false;
        } else if (key == "color") {
          one.color = color(part, "color");
        } else {
          refuse("classes", "a list of {\"name\": ..., \"color\": ...}");
        }
      }
      for (const ClassCard& other : out)
        if (other.name == one.name) refuse("classes", "a list of classes with different names");
      out.push_back(std::move(one));
    }
    return out;
  }

  std::int64_t side(const Json& value, const std::string& key) const {
    const double side = number(value, key);
    if (side != std::floor(side) || side < 1 || side > 16384) refuse(key, "a whole number of pixels up to 16384");
    return static_cast<std::int64_t>(side);
  }
  // Returns false for a key of another kind.
  bool read_output(const std::string& key, const Json& value, OutputCard& out) const {
    if (key == "task") {
      out.task = choice<ModelTask>(value, key);
    } else if (key == "activation") {
      out.activation = choice<Activation>(value, key);
    } else if (key == "classes") {
      out.classes = classes(value);
    } else if (key == "threshold") {
      const double threshold = number(value, key);
      if (threshold < 0 || threshold > 1) refuse(key, "a number from 0 to 1");
      out.threshold = threshold;
    } else {
      return false;
    }
    return true;
  }
  std::vector<std::pair<std::string, OutputCard>> outputs(const Json& value) const {
    constexpr std::size_t kMaxNames = 64;
    if (!value.is_object() || value.empty() || value.size() > kMaxNames)
      refuse("outputs", R"(an object of 1 to 64 outputs by their names: {"vessels": {"activation": "sigmoid"}})");
    std::vector<std::pair<std::string, OutputCard>> out;
    for (const auto& [name, card] : value.items()) {
      OutputCard one;
      if (!card.is_object()) refuse("outputs", "an object of objects");
      for (const auto& [key, part] : card.items())
        if (!read_output(key, part, one))
          refuse("outputs",
                 "made of task, activation, classes and threshold only: found '" + escape_unprintable(key) + "'");
      out.emplace_back(name, std::move(one));
    }
    return out;
  }

  void read(const std::string& key, const Json& value, ModelCard& out) const {
    if (read_output(key, value, out.output)) return;
    if (key == "input") {
      out.input = choice<ChannelOrder>(value, key);
    } else if (key == "layout") {
      out.layout = choice<TensorLayout>(value, key);
    } else if (key == "range") {
      const std::vector<float> both = numbers(value, key);
      if (both.size() != 2 || !(both[0] < both[1])) refuse(key, "two numbers, the lower first");
      out.range = {both[0], both[1]};
    } else if (key == "mean") {
      out.mean = numbers(value, key);
    } else if (key == "std") {
      out.std = numbers(value, key);
      for (const float each : out.std)
        if (!(each > 0)) refuse(key, "a list of numbers above 0");
    } else if (key == "window") {
      out.window = side(value, key);
    } else if (key == "preprocess") {
      out.preprocess = choice<Preprocess>(value, key);
    } else if (key == "size") {
      out.size = side(value, key);
      if (*out.size < 16 || *out.size > kMaxSquareSide) refuse(key, "a whole number of pixels from 16 to 8192");
    } else if (key == "outputs") {
      out.outputs = outputs(value);
    } else {
      std::string nearest(kKeys[0]);
      for (const std::string_view known : kKeys)
        if (edit_distance(key, known) < edit_distance(key, nearest)) nearest = known;
      throw Failure(ErrorCode::bad_data,
                    fmt::format("the model card has the unknown key '{}'", escape_unprintable(key)), path_,
                    fmt::format("did you mean '{}'? docs/segment.md lists the keys", nearest));
    }
  }

 private:
  const std::string path_;
};

}  // namespace

std::size_t channels_of(ChannelOrder order) {
  return order == ChannelOrder::gray ? 1 : order == ChannelOrder::enhanced ? 6 : 3;
}

std::string card_path_of(const std::string& model) {
  const std::string ending = ".onnx";
  return (model.ends_with(ending) ? model.substr(0, model.size() - ending.size()) : model) + ".json";
}

ModelCard parse_card(const std::string& text, const std::string& path) {
  Json json;
  std::string what = "this is not a model card: expected a JSON object";
  try {
    json = Json::parse(text);
  } catch (const Json::Error& error) {
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(error.at, text.size())), '\n');
    what = fmt::format("this is not a model card: invalid JSON in line {}", line + 1);
  }
  if (!json.is_object()) {
    throw Failure(ErrorCode::bad_data, what, path, "millrace segment --describe --model MODEL writes a card");
  }
  ModelCard out;
  const CardReader reader(path);
  for (const auto& [key, value] : json.items()) reader.read(key, value, out);
  if (out.size && out.preprocess.value_or(Preprocess::none) == Preprocess::none)
    throw Failure(ErrorCode::bad_data, "the model card has a 'size', but no preprocessing that uses it", path,
                  "set \"preprocess\" to \"fundus\" or \"square\", or remove \"size\"");
  const OutputCard& one = out.output;
  if (!out.outputs.empty() && (one.task || one.activation || one.threshold || !one.classes.empty()))
    throw Failure(ErrorCode::bad_data,
                  "the model card has 'outputs', but also a task, activation, classes or threshold outside of it", path,
                  "move these into each output of 'outputs'");
  return out;
}

std::vector<ClassCard> make_unnamed_classes(std::size_t count) {
  std::vector<ClassCard> out;
  const std::size_t first = count == 1 ? 1 : 0;
  for (std::size_t k = first; k < first + count; ++k) out.push_back({fmt::format("class {}", k)});
  return out;
}

std::array<std::uint8_t, 3> class_color(std::size_t k) { return kColors[k % kColors.size()]; }

ModelCard read_card(const std::string& path) {
  const std::string text = read_text(path, kMaxCardBytes).or_throw();
  if (text.size() > kMaxCardBytes)
    throw Failure(ErrorCode::too_large, "too large for a model card (the limit is 1 MiB)", path, "check its path");
  return parse_card(text, path);
}

namespace {

Json describe_classes(std::int64_t count) {
  Json out = Json::array();
  const auto named = make_unnamed_classes(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < named.size(); ++k) {
    const auto color = class_color(named.size() == 1 ? 1 : k);
    Json one = {{"name", named[k].name}};
    // The first of several classes is the background or a class, depending on the activation. Without a colour, both
    // are right.
    if (named.size() == 1 || k > 0) one["color"] = fmt::format("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
    out.push_back(std::move(one));
  }
  return out;
}

// Describes what can be guessed about an output: [N, K, height, width], or [N, K].
Json describe_output(const OnnxPort& port, bool channels_last) {
  Json out;
  const std::size_t sides = port.shape.size();
  const std::int64_t classes = sides == 4 ? port.shape[channels_last ? 3 : 1] : sides == 2 ? port.shape[1] : kAnySide;
  // A single number is no choice of classes.
  const bool is_number = sides == 2 && classes == 1;
  out["task"] = is_number ? "regression" : sides == 2 ? "classification" : "segmentation";
  // A model whose last operator computes probabilities needs no activation. The file's list of operators does not show
  // that.
  if (!is_number) out["activation"] = sides == 2 ? "softmax" : "none";
  // The number of classes may be unknown until the model has run.
  if (classes >= 1 && classes <= static_cast<std::int64_t>(kMaxClasses)) out["classes"] = describe_classes(classes);
  // A threshold is not needed for several classes that exclude each other: the likeliest one is taken.
  if (sides != 2 && classes <= 1) out["threshold"] = 0.5;
  return out;
}

}  // namespace

std::string describe(const OnnxFile& onnx) {
  const auto side = [](const std::vector<OnnxPort>& ports, std::size_t k) {
    return ports.size() == 1 && ports[0].shape.size() == 4 ? ports[0].shape[k] : kAnySide;
  };
  // Channels are few; height and width are large.
  const auto is_channels = [](std::int64_t count) { return count == 1 || count == 3 || count == 6; };
  const bool last = !is_channels(side(onnx.inputs, 1)) && is_channels(side(onnx.inputs, 3));
  const std::int64_t channels = side(onnx.inputs, last ? 3 : 1), height = side(onnx.inputs, last ? 1 : 2),
                     width = side(onnx.inputs, last ? 2 : 3);
  Json out;
  const bool enhanced = channels == 6;
  out["input"] = channels == 1 ? "gray" : enhanced ? "rgb+enhanced" : "rgb";
  out["layout"] = last ? "nhwc" : "nchw";
  if (enhanced) out["preprocess"] = "fundus";
  out["range"] = {0, 1};
  if (enhanced) {
    out["mean"] = kImageNetMean;
    out["std"] = kImageNetStd;
  } else {
    out["mean"] = std::vector<int>(channels == 1 ? 1 : 3, 0);
    out["std"] = std::vector<int>(channels == 1 ? 1 : 3, 1);
  }
  if (onnx.outputs.size() == 1) {
    out.update(describe_output(onnx.outputs[0], last));
  } else {
    for (const OnnxPort& port : onnx.outputs)
      out["outputs"][replace_invalid_utf8(port.name)] = describe_output(port, last);
  }
  // A window that is no square is given by the file itself.
  if (height == kAnySide && width == kAnySide) out["window"] = 512;
  if (height != kAnySide && height == width) out["window"] = height;
  return out.dump(1) + "\n";
}

}  // namespace millrace::model
