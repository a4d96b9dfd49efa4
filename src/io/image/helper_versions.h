// Input: the decoding helper's program.
// Output: the libraries that it decodes with, the formats that they read here and the layers of its sandbox; or the
// reason why it does not answer.
// Never: decodes anything; links those libraries into this process.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"

namespace millrace {

struct HelperLibrary {
  std::string name, version;
  std::vector<std::string> reads;  // spelled as by name_of(ImageFormat)
};

// A layer of the sandbox around the helper (see sandbox.h).
struct HelperSandboxLayer {
  std::string name;
  bool is_active;
  std::string how;  // the mechanism, or the reason why it is missing
};

struct HelperVersions {
  std::vector<HelperLibrary> libraries;
  std::vector<HelperSandboxLayer> sandbox_layers;
};

// Runs `millrace-decoder --versions`. Returns Error(unavailable) when it cannot be started, and Error(crashed) when it
// dies, hangs or writes something that cannot be parsed. The remedy says which packages to install.
Outcome<HelperVersions> query_helper_versions(const std::string& program);

}  // namespace millrace
