#include "src/jobs/model_options.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/base/values.h"

namespace millrace {
namespace {

constexpr const char* kFromCard = "auto";

// A choice, or what the card says.
template <typename E>
void add_or_card(Settings& settings, const char* name, const std::string& help, std::optional<E>& value) {
  std::string names;
  for (const auto& choice : choices_of(E{})) names += fmt::format("{}{}", names.empty() ? "" : "|", choice.name);
  settings.add_parsed(name, names, help, kFromCard, [&value, name, names](const std::string& text) {
    value.reset();
    if (text == kFromCard) return;
    for (const auto& choice : choices_of(E{}))
      if (text == choice.name) value = choice.value;
    if (!value) {
      throw Failure(ErrorCode::usage, fmt::format("'{}' is not {}", printable(text), names), fmt::format("--{}", name),
                    "");
    }
  });
}

}  // namespace

void describe(Settings& settings, model::PictureModelOptions& options, const std::string& from,
              const std::string& items) {
  settings.add_text("model", "M.onnx", "the network", options.model);
  settings.add_text("card", "M.json", "what its file does not say; M.json beside it unless told", options.card);
  add_or_card(settings, "input", "the order of its input's channels; auto: the card's, or by their number",
              options.input);
  add_or_card(settings, "activation", "what makes probabilities of its outputs; auto: the card's, or none",
              options.activation);
  settings.add_parsed("threshold", "X", fmt::format("from which probability on a {}; auto: the card's, or 0.5", from),
                      kFromCard, [&options](const std::string& text) {
                        options.threshold.reset();
                        if (text != kFromCard) options.threshold = number_of(text, 0, 1);
                      });
  settings.add_choice("precision", "what the network computes in; bf16 gives other results, faster on some CPUs",
                      options.precision);
  settings.add_integer("requests", "N", fmt::format("{} in the network at once; 0: one a thread", items),
                       options.requests, 0, 256);
}

void describe_window(Settings& settings, model::PictureModelOptions& options, const std::string& help) {
  settings.add_parsed("window", "N", help, kFromCard, [&options](const std::string& text) {
    options.window.reset();
    if (text == kFromCard) return;
    options.window = whole_number_of(text, 1, 16384);
  });
}

}  // namespace millrace
