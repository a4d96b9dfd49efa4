#include "src/model/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "src/base/text.h"
#include "src/kernels/sliding_window/sliding_window.h"

namespace millrace::model {
namespace {

constexpr std::size_t kMaxLabels = 255;  // of a mask with one byte per pixel

[[noreturn]] void refuse(const std::string& model, const std::string& what, const std::string& remedy) {
  throw Failure(ErrorCode::unsupported, what, model, remedy);
}

// Replaces the characters of a name that may not be in a file name.
std::string file_part(const std::string& name) {
  std::string out = name;
  for (char& each : out)
    if (std::isalnum(static_cast<unsigned char>(each)) == 0 && each != '-') each = '_';
  constexpr std::size_t kMaxBytes = 64;
  return out.substr(0, kMaxBytes);
}

Head head_of(const std::string& model, const OutputCard& card, const HeadOptions& options, const Output& output,
             std::int64_t height, std::int64_t width) {
  const auto& shape = output.shape;
  const std::string is = fmt::format("its output '{}' is {}", escape_unprintable(output.name), text_of(shape));
  const bool numbers =
      shape.size() == 2 || (shape.size() == 4 && shape[2] == 1 && shape[3] == 1 && card.task &&
                            *card.task != ModelTask::segmentation && *card.task != ModelTask::keypoints);
  if ((shape.size() != 2 && shape.size() != 4) || shape[0] != 1 || shape[1] < 1)
    refuse(model, fmt::format("{}; expected [1, classes, height, width] or [1, classes]", is),
           "export it with one of these shapes");
  Head out;
  out.source = output.name;
  if (numbers) {
    if (!card.task || *card.task == ModelTask::segmentation || *card.task == ModelTask::keypoints)
      refuse(model, is + ": numbers for the image, not for its pixels",
             "set \"task\" to \"classification\" or \"regression\" in the model card");
  } else {
    if (card.task == ModelTask::classification || card.task == ModelTask::regression)
      refuse(model, fmt::format("{}, but the model card sets its task to {}", is, choice_name(*card.task)),
             "set \"task\" to \"segmentation\" or \"keypoints\" in the model card");
    const bool fits = shape[2] > 0 && shape[3] > 0 && height % shape[2] == 0 && width % shape[3] == 0 &&
                      height / shape[2] == width / shape[3];
    if (!fits)
      refuse(model,
             fmt::format("{}; expected the size of its window, {} x {}, or that divided by a whole number", is, height,
                         width),
             "if channels come last, set \"layout\" to \"nhwc\" in the model card; if edges are cut off, export it "
             "with padding");
    out.height = shape[2];
    out.width = shape[3];
  }
  out.task = card.task.value_or(ModelTask::segmentation);
  if (out.task == ModelTask::keypoints || out.task == ModelTask::regression) {
    if (card.activation.value_or(Activation::none) != Activation::none)
      refuse(model, fmt::format("an output for {} cannot have an activation", choice_name(out.task)),
             "remove \"activation\" from the model card");
  } else {
    const Activation usual = out.task == ModelTask::classification ? Activation::softmax : Activation::none;
    out.activation = options.activation ? *options.activation : card.activation.value_or(usual);
  }
  if (card.threshold && (out.task != ModelTask::segmentation))
    refuse(model, fmt::format("an output for {} cannot have a threshold", choice_name(out.task)),
           "remove \"threshold\" from the model card");
  out.threshold = options.threshold ? *options.threshold : card.threshold.value_or(0.5);
  const auto channels = static_cast<std::size_t>(shape[1]);
  const std::size_t most = out.task == ModelTask::segmentation ? kMaxLabels : kMaxClasses;
  if (channels > most)
    refuse(model, fmt::format("{}: too many classes (the limit is {})", is, most), "export it with fewer classes");
  if (!card.classes.empty() && card.classes.size() != channels)
    refuse(model,
           fmt::format("its output '{}' has {} classes, but the model card names {}", escape_unprintable(output.name),
                       channels, card.classes.size()),
           "name each class once, in the order of the output");
  if (channels == 1 && out.activation == Activation::softmax)
    refuse(model, fmt::format("{}: the softmax of a single class is always 1", is),
           "use the activation sigmoid for a probability, or set \"task\" to \"regression\" for a number");
  out.classes = card.classes.empty() ? make_unnamed_classes(channels) : card.classes;
  return out;
}

}  // namespace

void Head::activate(std::span<float> values) const {
  if (activation == Activation::sigmoid) window::sigmoid(values);
  if (activation == Activation::softmax) window::softmax(values, classes.size());
}

std::vector<Head::Label> Head::labels() const {
  std::vector<Label> out;
  if (has_background()) out.push_back({"none", class_color(0), false});
  for (const ClassCard& each : classes) {
    // The first of several classes is the background, unless somebody gave it a colour.
    const std::size_t k = out.size();
    const std::size_t own = k == 0 ? 0 : 1 + (k - 1 + first_color) % (kColorCount - 1);
    out.push_back({each.name, each.drawn ? each.color.value_or(class_color(own)) : class_color(0),
                   each.drawn && (k > 0 || each.color)});
  }
  return out;
}

std::vector<Head> make_heads(const std::string& model, const ModelCard& card, const HeadOptions& options,
                             const std::vector<Output>& outputs, std::int64_t height, std::int64_t width) {
  std::vector<Head> out;
  std::string names;
  for (const Output& each : outputs)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", escape_unprintable(each.name));
  if (card.outputs.empty()) {
    if (outputs.size() != 1)
      refuse(
          model, fmt::format("it has {} outputs: {}", outputs.size(), names),
          "list those to use in the model card, as \"outputs\": {NAME: {\"task\": ...}}; millrace segment --describe "
          "writes a card with all of them");
    out.push_back(head_of(model, card.output, options, outputs[0], height, width));
  }
  for (const auto& [name, each] : card.outputs) {
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&name = name](const Output& one) { return one.name == name; });
    if (found == outputs.end())
      throw Failure(
          ErrorCode::bad_data,
          fmt::format("the model card names the output '{}', but the model has {}", escape_unprintable(name), names),
          model, "name outputs that the model has");
    out.push_back(head_of(model, each, options, *found, height, width));
    for (std::size_t k = 0; k + 1 < out.size(); ++k)
      if (out[k].is_map())
        out.back().first_color +=
            out[k].task == ModelTask::keypoints ? out[k].classes.size() : out[k].labels().size() - 1;
    out.back().output = static_cast<std::size_t>(found - outputs.begin());
    if (card.outputs.size() > 1) out.back().name = file_part(name);
    for (std::size_t k = 0; k + 1 < out.size(); ++k)
      if (out[k].name == out.back().name)
        throw Failure(ErrorCode::unsupported,
                      fmt::format("two of its outputs would write results with the same name, '{}'", out[k].name),
                      model, "export it with output names that differ in their first 64 letters and digits");
  }
  const bool any_activated = std::any_of(out.begin(), out.end(), [](const Head& head) {
    return head.task == ModelTask::segmentation || head.task == ModelTask::classification;
  });
  if (options.activation && !any_activated) {
    throw Failure(ErrorCode::usage, "its outputs are points and numbers, which have no activation", "--activation",
                  "omit it");
  }
  const bool any_none = std::any_of(out.begin(), out.end(), [](const Head& head) {
    return head.task == ModelTask::segmentation && head.has_background();
  });
  if (options.threshold && !any_none) {
    throw Failure(ErrorCode::usage, "each pixel gets its likeliest class, so a threshold has no effect", "--threshold",
                  "omit it, or add --activation sigmoid if classes may overlap");
  }
  return out;
}

std::string text_of(const std::vector<Head::Label>& labels) {
  std::string out;
  for (const Head::Label& each : labels)
    out += fmt::format("{}{} #{:02x}{:02x}{:02x}{}", out.empty() ? "" : ", ", each.name, each.color[0], each.color[1],
                       each.color[2], each.drawn ? "" : " not drawn");
  return out;
}

}  // namespace millrace::model
