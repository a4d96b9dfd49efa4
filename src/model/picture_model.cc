#include "src/model/picture_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/device/cpu/machine.h"

namespace millrace::model {
namespace {

[[noreturn]] void refuse(const PictureModel& model, const std::string& what, const std::string& remedy) {
  throw Failure(ErrorCode::unsupported, what, model.file.path, remedy);
}

// The one input, [N, C, H, W], whatever layout the network has.
Port input_of(const PictureModel& model) {
  const auto& inputs = model.file.onnx.inputs;
  if (inputs.size() != 1) {
    std::string names;
    for (const Port& each : inputs) names += (names.empty() ? "" : ", ") + each.name;
    refuse(model,
           fmt::format("it has {} inputs ({}), and a picture is one: a network that keeps a state from one to the next "
                       "is not run here",
                       inputs.size(), names),
           "export it with one input");
  }
  Port port = inputs[0];
  const bool last = model.layout == Layout::nhwc;
  if (port.shape.size() != 4 || (port.shape[0] != kOpen && port.shape[0] != 1))
    refuse(model,
           fmt::format("its input '{}' is {}, not [1, {}]", port.name, text_of(port.shape),
                       last ? "height, width, channels" : "channels, height, width"),
           "export it for a batch of 1, or of any size");
  if (port.type != "float32" && port.type != "float16" && port.type != "bfloat16")
    refuse(model, fmt::format("its input '{}' is of {}", port.name, port.type.empty() ? "another type" : port.type),
           "export it with an input of float32");
  if (last) port.shape = {port.shape[0], port.shape[3], port.shape[1], port.shape[2]};
  return port;
}

void set_channels(const PictureModelOptions& options, const Card& card, const Port& port, PictureModel& model) {
  const std::optional<ChannelOrder> said = options.input ? options.input : card.input;
  model.input = said.value_or(port.shape[1] == 1 ? ChannelOrder::gray : ChannelOrder::rgb);
  const std::size_t channels = model.input == ChannelOrder::gray ? 1 : 3;
  if (port.shape[1] != kOpen && port.shape[1] != static_cast<std::int64_t>(channels)) {
    refuse(model,
           fmt::format("its input '{}' has {} channels, and {} has {}", port.name, port.shape[1],
                       choice_name(model.input), channels),
           "say --input gray, rgb or bgr as the network was trained; where the channels come last, \"layout\": "
           "\"nhwc\" in the model card");
  }
  model.order = model.input == ChannelOrder::gray  ? std::vector<std::size_t>{0}
                : model.input == ChannelOrder::rgb ? std::vector<std::size_t>{0, 1, 2}
                                                   : std::vector<std::size_t>{2, 1, 0};
  const auto each = [&](const std::vector<float>& values, const char* key, float otherwise) {
    if (values.empty()) return std::vector<float>(channels, otherwise);
    if (values.size() != channels) {
      throw Failure(
          ErrorCode::bad_data,
          fmt::format("the model card's '{}' has {} numbers, and the input {} channels", key, values.size(), channels),
          options.card.empty() ? card_beside(options.model) : options.card,
          "give one number a channel, in the order of the input");
    }
    return values;
  };
  const std::vector<float> mean = each(card.mean, "mean", 0), deviation = each(card.std, "std", 1);
  const auto [low, high] = card.range.value_or(std::array<float, 2>{0, 1});
  model.levels.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t v = 0; v < 256; ++v) {
      // 255 of 0..255 is 255, whatever a fraction of float32 makes of it.
      const double value = low + static_cast<double>(v) * (static_cast<double>(high) - low) / 255;
      model.levels[c].of[v] = (static_cast<float>(value) - mean[c]) / deviation[c];
    }
  }
}

void set_window(const PictureModelOptions& options, const Card& card, const Port& port, PictureModel& model) {
  const std::int64_t said = options.window ? *options.window : card.window.value_or(0);
  const auto side = [&](std::size_t axis) {
    const std::int64_t own = port.shape[axis];
    if (own != kOpen && said != 0 && own != said) {
      refuse(model,
             fmt::format("its input '{}' is {}: a window of {} does not fit", port.name, text_of(port.shape), said),
             "leave --window out, or export it for any size");
    }
    return own != kOpen ? own : said != 0 ? said : 512;
  };
  model.height = side(2);
  model.width = side(3);
}

}  // namespace

std::vector<std::int64_t> PictureModel::input_shape() const {
  return {1, static_cast<std::int64_t>(order.size()), height, width};
}

PictureModel open_picture_model(const PictureModelOptions& options, const std::function<bool()>& cancelled) {
  if (options.model.empty())
    throw Failure(ErrorCode::usage, "a model is needed", "--model",
                  "name an ONNX file, for example --model vessels.onnx");
  PictureModel out;
  out.file = open_model(options.model, cancelled);
  Card card;
  const std::string beside = card_beside(options.model);
  if (!options.card.empty()) {
    card = read_card(options.card);
  } else if (::access(beside.c_str(), F_OK) == 0) {
    card = read_card(beside);
  }
  out.layout = card.layout.value_or(Layout::nchw);
  const Port port = input_of(out);
  set_channels(options, card, port, out);
  set_window(options, card, port, out);
  out.activation = options.activation ? *options.activation : card.activation.value_or(Activation::none);
  out.threshold = options.threshold ? *options.threshold : card.threshold.value_or(0.5);
  out.classes = card.classes;
  return out;
}

std::vector<PictureModel::Label> PictureModel::labels() const {
  std::vector<Label> out;
  if (has_none()) out.push_back({"none", class_color(0), false});
  for (const ClassCard& each : classes) {
    // The first of several is what is none, unless somebody gave it a colour.
    const std::size_t k = out.size();
    out.push_back({each.name, each.drawn ? each.color.value_or(class_color(k)) : class_color(0),
                   each.drawn && (k > 0 || each.color)});
  }
  return out;
}

std::size_t check_outputs(const PictureModelOptions& options, PictureModel& model, const std::vector<Output>& outputs) {
  if (outputs.size() != 1) {
    refuse(model, fmt::format("it has {} outputs, and a mask is made of one", outputs.size()),
           "export it with the one that is wanted");
  }
  const Output& output = outputs[0];
  if (output.shape.size() != 4 || output.shape[0] != 1 || output.shape[2] != model.height ||
      output.shape[3] != model.width) {
    refuse(model,
           fmt::format("its output '{}' is {} for a window of {} x {}", output.name, text_of(output.shape),
                       model.height, model.width),
           "a network that gives a number a pixel is needed, [1, classes, height, width]");
  }
  const auto channels = static_cast<std::size_t>(output.shape[1]);
  if (channels < 1 || channels > 255) {
    refuse(model, fmt::format("its output '{}' has {} classes; a mask has up to 255", output.name, channels),
           "export it with fewer");
  }
  if (!model.classes.empty() && model.classes.size() != channels) {
    refuse(model,
           fmt::format("its output '{}' has {} classes, and the model card names {}", output.name, channels,
                       model.classes.size()),
           "name each class once, in the order of the output");
  }
  if (model.classes.empty()) model.classes = unnamed_classes(channels);
  if (options.threshold && !model.has_none()) {
    throw Failure(ErrorCode::usage,
                  fmt::format("a pixel is the likeliest of its {} classes, whatever a threshold is", channels),
                  "--threshold", "leave it out; or --activation sigmoid, where classes do not exclude each other");
  }
  return channels;
}

Attributes made_of(const PictureModel& model, const Session& session) {
  std::string levels;
  for (const window::Levels& each : model.levels) {
    levels += fmt::format("{}{} to {}", levels.empty() ? "" : ", ", each.of[0], each.of[255]);
  }
  std::string classes;
  for (const PictureModel::Label& each : model.labels()) {
    classes += fmt::format("{}{} #{:02x}{:02x}{:02x}{}", classes.empty() ? "" : ", ", each.name, each.color[0],
                           each.color[1], each.color[2], each.drawn ? "" : " not drawn");
  }
  return {{"model", model.file.digest},
          {"runtime", session.runtime()},
          {"precision", session.precision()},
          {"cpu", describe_machine().cpu_name},
          {"input", choice_name(model.input)},
          {"layout", choice_name(model.layout)},
          {"levels", levels},
          {"activation", choice_name(model.activation)},
          {"threshold", fmt::format("{}", model.threshold)},
          {"classes", classes},
          {"window", fmt::format("{} x {}", model.height, model.width)}};
}

}  // namespace millrace::model
