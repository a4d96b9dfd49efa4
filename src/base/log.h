// Enters: what the program wants a person to know while it works.
// Leaves: lines on stderr, never on stdout, which belongs to data.
// Never: decides an exit code.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace millrace {

// Sets spdlog's default logger to stderr at this level (trace, debug, info, warn, error, off).
void start_logging(const std::string& level);

}  // namespace millrace
