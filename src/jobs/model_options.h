// Enters: what a person says of a network.
// Leaves: the same options in every job that has one.
// Never: opens it.
#pragma once

#include <string>

#include "src/base/settings.h"
#include "src/model/picture_model.h"

namespace millrace {

// `from` is what a probability decides: "pixel of the mask is set"; `items` are what the network sees: "windows".
void describe(Settings& settings, model::PictureModelOptions& options, const std::string& from,
              const std::string& items);
void describe_window(Settings& settings, model::PictureModelOptions& options, const std::string& help);

}  // namespace millrace
