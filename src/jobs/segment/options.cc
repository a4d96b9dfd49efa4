#include "src/jobs/segment/options.h"

#include <fmt/format.h>

#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/jobs/model_options.h"

namespace millrace::segment {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& option, const std::string& wanted) {
  throw Failure(ErrorCode::usage, fmt::format("'{}' is not {}", escape_unprintable(text), wanted), option, "");
}

constexpr const char* kOutputChoices = "mask, probability, overlay, contours or csv";

OutputSelection parse_output_selection(const std::string& text) {
  OutputSelection out;
  for (const std::string& part : split(text, ',')) {
    const std::string_view name = trim(part);
    if (name == "mask") {
      out.mask = true;
    } else if (name == "probability") {
      out.probability = true;
    } else if (name == "overlay") {
      out.overlay = true;
    } else if (name == "contours") {
      out.contours = true;
    } else if (name != "csv") {  // the tables are always written
      refuse(std::string(name), "--write", kOutputChoices);
    }
  }
  return out;
}

void describe_precision(Settings& settings, Options& options) {
  settings.add_parsed("precision", "f32|bf16|auto[=DICE]",
                      "what the network computes in; bf16 gives other results, faster on some CPUs; auto: bf16 where "
                      "masks of a sample of this run's windows agree to this Dice, 0.99 unless told, else f32",
                      "f32", [&options](const std::string& text) {
                        constexpr double kDefaultMinDice = 0.99;
                        options.min_dice.reset();
                        const std::string policy = "auto";
                        if (text == policy) {
                          options.min_dice = kDefaultMinDice;
                        } else if (text.starts_with(policy + "=")) {
                          options.min_dice = parse_number(text.substr(policy.size() + 1), 0, 1);
                        } else if (text == "f32" || text == "bf16") {
                          options.network.precision = text == "f32" ? model::Precision::f32 : model::Precision::bf16;
                        } else {
                          refuse(text, "--precision", "f32, bf16, auto or auto=0.995");
                        }
                      });
}

}  // namespace

void describe(Settings& settings, Options& options) {
  settings.add_text("output", "DIR", "the folder of results; it is made", options.output);
  settings.add_parsed("write", "LIST",
                      "what is written of a picture: mask, probability, overlay, contours; csv: the table alone, which "
                      "is always written",
                      options.write_text, [&options](const std::string& text) {
                        options.write = parse_output_selection(text);
                        options.write_text = text;
                      });
  settings.add_choice(
      "format",
      "of masks, probabilities and overlays; PNG holds no probabilities, which then are NPY, and arrays "
      "are no pictures: overlays then are PNG",
      options.format);
  millrace::describe(settings, options.shard_spec, "picture", "the last of them writes the table");
  describe_mixed_hardware(settings, options.network);
  settings.add_switch("report", "also write report.html, a page to look through", options.report);
  settings.set_heading("The model");
  settings.add_list("model", "M.onnx", "the network; several are asked together, and agree on means", options.models);
  settings.add_list("card", "M.json", "what its file does not say; M.json beside it unless told", options.cards);
  millrace::describe(settings, options.network, "pixel of the mask is set", "windows");
  describe_precision(settings, options);
  settings.add_choice("tta", "also ask of each window turned over: top and bottom, left and right, or each and both",
                      options.flips);
  settings.add_parsed("tta-mean", "probability|raw",
                      "of the outputs of these: the mean of probabilities, or of raw outputs", "probability",
                      [&options](const std::string& text) {
                        options.flip_mean.reset();
                        for (const auto& each : choices_of(model::FlipMean{}))
                          if (text == each.name) options.flip_mean = each.value;
                        if (!options.flip_mean) refuse(text, "--tta-mean", "probability or raw");
                      });
  settings.add_switch("describe", "write a first card for --model to stdout, and do nothing else", options.describe);
  settings.set_heading("The square");
  add_card_option(
      settings, "preprocess",
      "bring a picture to a square first: the field of view of a fundus photograph, or all of it; results come "
      "back to the picture's own pixels; auto: the card's, or none",
      options.preprocess);
  settings.add_parsed("size", "PIXELS",
                      "side of the square; auto: the card's, or 1024; of classes and numbers a window", "auto",
                      [&options](const std::string& text) {
                        options.size.reset();
                        if (text != "auto") options.size = parse_whole_number(text, 16, 8192);
                      });
  settings.set_heading("Windows");
  describe_window(settings, options.network, "side of a window; auto: the model's own, the card's, or 512");
  settings.add_parsed("overlap", "X", "of neighbouring windows, as a share of one", "0.5",
                      [&options](const std::string& text) { options.overlap = parse_number(text, 0, 0.9999); });
  settings.add_choice("importance", "what a window's pixels count where windows overlap", options.importance);
  settings.add_choice("pad", "what lies around a picture that is smaller than a window", options.padding);
  settings.add_text("roi", "MASK|DIR",
                    "leave out windows where this picture, of the photograph's own size, is black; of a folder the one "
                    "of the same name, or with .png behind it or in place of its ending",
                    options.roi);
  settings.add_switch(
      "skip-empty", "leave out windows in which the pixels of every channel lie within 16 of 255 levels of each other",
      options.skip_empty);
  settings.set_heading("Which pictures");
  millrace::describe(settings, options.files);
}

}  // namespace millrace::segment
