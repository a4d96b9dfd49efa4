// Enters: the decoding helper's program.
// Leaves: the libraries it decodes with and what they can read here; or the reason why it does not
// say. Never: decodes anything, or links those libraries into this process.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"

namespace millrace {

struct HelperLibrary {
  std::string name, version;
  std::vector<std::string> reads;  // as name_of(ImageFormat) spells them
};

// Runs `millrace-decoder --versions`. Error(unavailable) when it cannot be started, Error(crashed)
// when it dies, hangs or says what cannot be understood; the remedy says what to install.
Outcome<std::vector<HelperLibrary>> helper_libraries(const std::string& program);

}  // namespace millrace
