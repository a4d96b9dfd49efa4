// Input: messages for a person while the program works.
// Output: lines on stderr, never on stdout, which is reserved for data.
// Never: decides an exit code, or repeats the summary, which the job prints.
//
//   spdlog::info   the circumstances of a run: the machine, limits, catalog, finished shards, what limited the run
//   spdlog::debug  events of single items and helpers
// Names that a user gave go through printable() first.
#pragma once

#include <spdlog/spdlog.h>

#include <array>
#include <cstdint>

#include "src/base/choice.h"

namespace millrace {

// Lowest severity that is logged; each level includes those after it.
enum class LogLevel : std::uint8_t { trace, debug, info, warn, error, off };
constexpr std::array<Choice<LogLevel>, 6> choices_of(LogLevel) {
  return {{{"trace", LogLevel::trace},
           {"debug", LogLevel::debug},
           {"info", LogLevel::info},
           {"warn", LogLevel::warn},
           {"error", LogLevel::error},
           {"off", LogLevel::off}}};
}

// Sets spdlog's default logger to stderr at this level (trace, debug, info, warn, error, off).
void start_logging(LogLevel level);

}  // namespace millrace
