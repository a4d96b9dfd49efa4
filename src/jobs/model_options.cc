#include "src/jobs/model_options.h"

#include <fmt/format.h>

#include "src/base/parse_values.h"
#include "src/base/text.h"

namespace millrace {
namespace {

constexpr const char* kFromCard = "auto";

}  // namespace

void describe_model(Settings& settings, model::PictureModelOptions& options) {
  settings.add_text("model", "M.onnx", "the network", options.model);
  settings.add_text("card", "M.json", "what its file does not say; M.json beside it unless told", options.card);
}

void describe_mixed_hardware(Settings& settings, model::PictureModelOptions& options) {
  settings.add_switch(
      "mixed",
      "runs of several CPUs or runtimes make one OUTPUT, which says so: their results differ in the last "
      "digits",
      options.mixed);
}

void describe_precision(Settings& settings, model::PictureModelOptions& options) {
  settings.add_choice("precision", "what the network computes in; bf16 gives other results, faster on some CPUs",
                      options.precision);
}

void describe(Settings& settings, model::PictureModelOptions& options, const std::string& from,
              const std::string& items) {
  add_card_option(settings, "input", "the order of its input's channels; auto: the card's, or by their number",
                  options.input);
  add_card_option(settings, "activation", "what makes probabilities of its outputs; auto: the card's, or none",
                  options.activation);
  settings.add_parsed("threshold", "X", fmt::format("from which probability on a {}; auto: the card's, or 0.5", from),
                      kFromCard, [&options](const std::string& text) {
                        options.threshold.reset();
                        if (text != kFromCard) options.threshold = parse_number(text, 0, 1);
                      });
  settings.add_integer("requests", "N", fmt::format("{} in the network at once; 0: one a thread", items),
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
