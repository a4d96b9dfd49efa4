// Input: the user's options for a network.
// Output: the same options in every job that runs a network.
// Never: opens the network.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "src/base/settings.h"
#include "src/base/text.h"
#include "src/model/picture_model.h"

namespace millrace {

// Describes --mixed, which accompanies --part.
void describe_mixed_hardware(Settings& settings, model::PictureModelOptions& options);
void describe_model(Settings& settings, model::PictureModelOptions& options);
void describe_precision(Settings& settings, model::PictureModelOptions& options);
// Describes the options that have no function of their own here. `from` is the decision that a probability makes, such
// as "pixel of the mask is set"; `items` are the network's inputs, such as "windows".
void describe(Settings& settings, model::PictureModelOptions& options, const std::string& from,
              const std::string& items);
void describe_window(Settings& settings, model::PictureModelOptions& options, const std::string& help);

// Describes an option whose value is one of the choices, or "auto" for the value in the card.
template <typename E>
void add_card_option(Settings& settings, const char* name, const std::string& help, std::optional<E>& value) {
  std::string names;
  for (const auto& choice : choices_of(E{})) names += fmt::format("{}{}", names.empty() ? "" : "|", choice.name);
  settings.add_parsed(name, names, help, "auto", [&value, name, names](const std::string& text) {
    value.reset();
    if (text == "auto") return;
    for (const auto& choice : choices_of(E{}))
      if (text == choice.name) value = choice.value;
    if (!value) {
      throw Failure(ErrorCode::usage, fmt::format("'{}' is not {}", escape_unprintable(text), names),
                    fmt::format("--{}", name), "");
    }
  });
}

}  // namespace millrace
