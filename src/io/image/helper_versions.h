// Input: the decoding helper's program.
// Output: the libraries it decodes with, what they can read here and which walls it stands behind; or the reason why it
//   does not say.
// Never: decodes anything, or links those libraries into this process.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"

namespace millrace {

struct HelperLibrary {
  std::string name, version;
  std::vector<std::string> reads;  // as name_of(ImageFormat) spells them
};

// What keeps it from the machine: walls.h tells them.
struct HelperWall {
  std::string name;
  bool stands;
  std::string how;  // or why it does not stand
};

struct HelperAnswer {
  std::vector<HelperLibrary> libraries;
  std::vector<HelperWall> walls;
};

// Runs `millrace-decoder --versions`. Error(unavailable) when it cannot be started, Error(crashed)
// when it dies, hangs or says what cannot be understood; the remedy says what to install.
Outcome<HelperAnswer> ask_helper(const std::string& program);

}  // namespace millrace
