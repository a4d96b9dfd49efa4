// A model card: it is taken as it is written, or refused with a reason.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/model/model_card.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  try {
    const model::ModelCard card = model::parse_card({reinterpret_cast<const char*>(data), size}, "model.json");
    const auto check = [](const model::OutputCard& output) {
      if (output.threshold && !(*output.threshold >= 0 && *output.threshold <= 1)) std::abort();
    };
    check(card.output);
    for (const auto& [name, output] : card.outputs) check(output);
    if (card.window && *card.window < 1) std::abort();
  } catch (const Failure& failure) {
    if (failure.error().message().empty()) std::abort();
  }
  return 0;
}
