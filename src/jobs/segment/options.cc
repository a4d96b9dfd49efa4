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
                      "compute in f32 or bf16; auto: bf16 if sample masks agree with f32 to this Dice (0.99)", "f32",
                      [&options](const std::string& text) {
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
  settings.add_text("output", "DIR", "write results into this folder, which is created", options.output);
  settings.add_parsed("write", "LIST",
                      "choose results per picture: mask, probability, overlay, contours; csv: only the tables",
                      options.write_text, [&options](const std::string& text) {
                        options.write = parse_output_selection(text);
                        options.write_text = text;
                      });
  settings.add_choice("format", "set the file format; png: probabilities become .npy; npy, zarr: overlays become .png",
                      options.format);
  millrace::describe(settings, options.shard_spec, "picture", "the last run writes the tables");
  describe_mixed_hardware(settings, options.network);
  settings.add_switch("report", "also write report.html, a page to review the masks", options.report);
  settings.set_heading("Model");
  settings.add_list("model", "M.onnx", "use this ONNX network; repeat it for an ensemble, whose outputs are averaged",
                    options.models);
  settings.add_list("card", "M.json", "read the model card from this file; default: M.json beside the model",
                    options.cards);
  millrace::describe(settings, options.network, "pixel of the mask is set", "windows");
  describe_precision(settings, options);
  settings.add_choice("tta", "average over flips: h (top-bottom), w (left-right), hw (both; 4 times the work)",
                      options.flips);
  settings.add_parsed("tta-mean", "probability|raw", "average probabilities or raw outputs over the flips of --tta",
                      "probability", [&options](const std::string& text) {
                        options.flip_mean.reset();
                        for (const auto& each : choices_of(model::FlipMean{}))
                          if (text == each.name) options.flip_mean = each.value;
                        if (!options.flip_mean) refuse(text, "--tta-mean", "probability or raw");
                      });
  settings.add_switch("describe", "write a draft card for --model to stdout, and stop", options.describe);
  settings.set_heading("Preprocessing");
  add_card_option(settings, "preprocess",
                  "make a square first: fundus (field of view) or square (all of it); auto: the card's, else none",
                  options.preprocess);
  settings.add_parsed("size", "PIXELS",
                      "set the side of the square; auto: the card's, else 1024; for classes and numbers, the window",
                      "auto", [&options](const std::string& text) {
                        options.size.reset();
                        if (text != "auto") options.size = parse_whole_number(text, 16, 8192);
                      });
  settings.set_heading("Windows");
  describe_window(settings, options.network, "set the side of a window; auto: the model's own, the card's, else 512");
  settings.add_parsed("overlap", "X", "overlap neighboring windows by this share of their side", "0.5",
                      [&options](const std::string& text) { options.overlap = parse_number(text, 0, 0.9999); });
  settings.add_choice("importance", "weight pixels where windows overlap; gaussian: the center of a window counts most",
                      options.importance);
  settings.add_choice("pad", "fill the area around a picture that is smaller than a window", options.padding);
  settings.add_text("roi", "MASK|DIR",
                    "skip windows where this mask of the picture's size is black; DIR: one mask per picture, by name",
                    options.roi);
  settings.add_switch("skip-empty", "skip windows whose pixels differ by at most 16 of 255 levels in every channel",
                      options.skip_empty);
  settings.set_heading("Input files");
  millrace::describe(settings, options.files);
}

}  // namespace millrace::segment
