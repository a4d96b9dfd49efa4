#include "src/model/picture_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "src/base/text.h"
#include "src/device/cpu/machine.h"

namespace millrace::model {
namespace {

constexpr const char* kMixed = "mixed";

[[noreturn]] void refuse(const PictureModel& model, const std::string& what, const std::string& remedy) {
  throw Failure(ErrorCode::unsupported, what, model.file.path, remedy);
}

// Returns the only input as [N, C, H, W], in whichever layout the network has it.
OnnxPort input_of(const PictureModel& model) {
  const auto& inputs = model.file.onnx.inputs;
  if (inputs.size() != 1) {
    std::string names;
    for (const OnnxPort& each : inputs) names += (names.empty() ? "" : ", ") + each.name;
    refuse(model,
           fmt::format("it has {} inputs ({}); networks with several inputs, or with a state, are not supported",
                       inputs.size(), names),
           "export it with the image as its only input");
  }
  OnnxPort port = inputs[0];
  const bool last = model.layout == TensorLayout::nhwc;
  if (port.shape.size() != 4 || (port.shape[0] != kAnySide && port.shape[0] != 1))
    refuse(model,
           fmt::format("its input '{}' is {}, not [1, {}]", port.name, text_of(port.shape),
                       last ? "height, width, channels" : "channels, height, width"),
           "export it for a batch of 1, or of any size");
  if (port.type != "float32" && port.type != "float16" && port.type != "bfloat16")
    refuse(model,
           fmt::format("the type of its input '{}', {}, is not supported", port.name,
                       port.type.empty() ? "an unknown one" : port.type),
           "export it with a float32 input");
  if (last) port.shape = {port.shape[0], port.shape[3], port.shape[1], port.shape[2]};
  return port;
}

void set_channels(const PictureModelOptions& options, const ModelCard& card, const OnnxPort& port,
                  PictureModel& model) {
  const std::optional<ChannelOrder> picture_options = options.input ? options.input : card.input;
  const std::int64_t there = port.shape[1];
  model.input = picture_options.value_or(there == 1   ? ChannelOrder::gray
                                         : there == 6 ? ChannelOrder::enhanced
                                                      : ChannelOrder::rgb);
  const std::size_t channels = channels_of(model.input);
  if (port.shape[1] != kAnySide && port.shape[1] != static_cast<std::int64_t>(channels)) {
    refuse(model,
           fmt::format("its input '{}' has {} channels, but {} has {}", port.name, port.shape[1],
                       choice_name(model.input), channels),
           "set --input to gray, rgb, bgr or rgb+enhanced, as the network was trained; if channels come last, "
           "set \"layout\" to \"nhwc\" in the model card");
  }
  model.order.resize(channels);
  std::iota(model.order.begin(), model.order.end(), std::size_t{0});
  if (model.input == ChannelOrder::bgr) std::reverse(model.order.begin(), model.order.end());
  const bool enhanced = model.input == ChannelOrder::enhanced;
  const auto each = [&](std::vector<float> values, const char* key, float otherwise,
                        const std::array<double, 3>& of_enhanced) {
    if (values.empty() && enhanced) values.assign(of_enhanced.begin(), of_enhanced.end());
    if (values.empty()) return std::vector<float>(channels, otherwise);
    // The values of red, green and blue are used for the enhanced channels as well.
    if (enhanced && values.size() == 3) values.insert(values.end(), {values[0], values[1], values[2]});
    if (values.size() != channels) {
      throw Failure(ErrorCode::bad_data,
                    fmt::format("the model card's '{}' has {} numbers, but the input has {} channels", key,
                                values.size(), channels),
                    options.card.empty() ? card_path_of(options.model) : options.card,
                    "give one number per channel, in the order of the input");
    }
    return values;
  };
  const std::vector<float> mean = each(card.mean, "mean", 0, kImageNetMean),
                           deviation = each(card.std, "std", 1, kImageNetStd);
  const auto [low, high] = card.range.value_or(std::array<float, 2>{0, 1});
  model.levels.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t v = 0; v < 256; ++v) {
      // Computed in double, so that 255 in a range of 0..255 is exactly 255.
      const double value = low + static_cast<double>(v) * (static_cast<double>(high) - low) / 255;
      model.levels[c].of[v] = (static_cast<float>(value) - mean[c]) / deviation[c];
    }
  }
}

void set_window(const PictureModelOptions& options, const ModelCard& card, const OnnxPort& port, PictureModel& model) {
  const std::int64_t picture_options = options.window ? *options.window : card.window.value_or(0);
  const auto side = [&](std::size_t axis) {
    const std::int64_t own = port.shape[axis];
    if (own != kAnySide && picture_options != 0 && own != picture_options) {
      refuse(model,
             fmt::format("its input '{}' is {}: a window of {} does not fit", port.name, text_of(port.shape),
                         picture_options),
             "omit --window (or \"window\" of the model card), or export it for any size");
    }
    return own != kAnySide ? own : picture_options != 0 ? picture_options : 512;
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
    throw Failure(ErrorCode::usage, "a model is required", "--model",
                  "name an ONNX file, for example --model vessels.onnx");
  PictureModel out;
  out.mixed = options.mixed;
  out.file = open_model(options.model, cancelled);
  ModelCard& card = out.card;
  const std::string beside = card_path_of(options.model);
  if (!options.card.empty()) {
    card = read_card(options.card);
  } else if (::access(beside.c_str(), F_OK) == 0) {
    card = read_card(beside);
  }
  out.layout = card.layout.value_or(TensorLayout::nchw);
  const OnnxPort port = input_of(out);
  set_channels(options, card, port, out);
  set_window(options, card, port, out);
  return out;
}

const Head& check_one_mask(const PictureModelOptions& options, PictureModel& model,
                           const std::vector<Output>& outputs) {
  model.heads = make_heads(model.file.path, model.card, {options.activation, options.threshold}, outputs, model.height,
                           model.width);
  if (model.input == ChannelOrder::enhanced || model.card.preprocess.value_or(Preprocess::none) != Preprocess::none)
    refuse(model, "its preprocessing of photographs is not supported here", "use millrace segment");
  const Head& head = model.heads.front();
  if (model.heads.size() != 1 || head.task != ModelTask::segmentation || head.height != model.height ||
      head.width != model.width)
    refuse(model, "expected one mask with the size of the network's input",
           "list one such output in the model card's \"outputs\"");
  return head;
}

Attributes make_provenance(const PictureModel& model, const Session& session) {
  std::string levels;
  for (const window::LevelTable& each : model.levels) {
    levels += fmt::format("{}{} to {}", levels.empty() ? "" : ", ", each.of[0], each.of[255]);
  }
  Attributes out = {{"model", model.file.digest},
                    {"runtime", model.mixed ? kMixed : session.runtime()},
                    {"precision", session.precision()},
                    {"cpu", model.mixed ? kMixed : describe_machine().cpu_name},
                    {"input", choice_name(model.input)},
                    {"layout", choice_name(model.layout)},
                    {"levels", levels}};
  // Outputs are listed in their order, which is that of masks in tables and records.
  std::string outputs;
  for (const Head& head : model.heads) outputs += (outputs.empty() ? "" : ", ") + head.source;
  if (!model.card.outputs.empty()) out.emplace_back("outputs that count", outputs);
  for (const Head& head : model.heads) {
    const auto key = [&head](const std::string& what) { return head.name.empty() ? what : head.name + " " + what; };
    if (head.task != ModelTask::segmentation) out.emplace_back(key("task"), choice_name(head.task));
    out.emplace_back(key("activation"), choice_name(head.activation));
    out.emplace_back(key("threshold"), fmt::format("{}", head.threshold));
    out.emplace_back(key("classes"), text_of(head.labels()));
  }
  out.emplace_back("window", fmt::format("{} x {}", model.height, model.width));
  return out;
}

std::string runtime_and_cpu_of(const Session& session) {
  return fmt::format("{} on {}", session.runtime(), describe_machine().cpu_name);
}

}  // namespace millrace::model
