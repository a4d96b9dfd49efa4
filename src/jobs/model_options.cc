#include "src/jobs/model_options.h"

#include <fmt/format.h>

#include "src/base/parse_values.h"
#include "src/base/text.h"

namespace millrace {
namespace {

constexpr const char* kFromCard = "auto";

}  // namespace

void describe_model(Settings& settings, model::PictureModelOptions& options) {
  settings.add_text("model", "M.onnx", "run this network", options.model);
  settings.add_text("card", "M.json", "read the model card from this file; M.json beside M.onnx if not given",
                    options.card);
}

void describe_mixed_hardware(Settings& settings, model::PictureModelOptions& options) {
  settings.add_switch("mixed",
                      "let runs on different CPUs or runtimes make one OUTPUT; results differ in the last digits",
                      options.mixed);
}

void describe_precision(Settings& settings, model::PictureModelOptions& options) {
  settings.add_choice("precision", "compute in this precision; bf16 gives other results, faster on some CPUs",
                      options.precision);
}

void describe(Settings& settings, model::PictureModelOptions& options, const std::string& from,
              const std::string& items) {
  add_card_option(settings, "input", "set the order of the input channels; auto: from the card, or by their number",
                  options.input);
  add_card_option(settings, "activation", "turn outputs into probabilities this way; auto: from the card, or none",
                  options.activation);
  settings.add_parsed("threshold", "X",
                      fmt::format("set the probability from which a {}; auto: from the card, or 0.5", from), kFromCard,
                      [&options](const std::string& text) {
                        options.threshold.reset();
                        if (text != kFromCard) options.threshold = parse_number(text, 0, 1);
                      });
  settings.add_integer("requests", "N",
                       fmt::format("run the network on this many {} at once; 0 is one per thread", items),
                       options.requests, 0, 256);
}

void describe_window(Settings& settings, model::PictureModelOptions& options, const std::string& help) {
  settings.add_parsed("window", "N", help, kFromCard, [&options](const std::string& text) {
    options.window.reset();
    if (text == kFromCard) return;
    options.window = parse_whole_number(text, 1, 16384);
  });
}

}  // namespace millrace
