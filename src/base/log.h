// Input: what the program wants a person to know while it works.
// Output: lines on stderr, never on stdout, which belongs to data.
// Never: decides an exit code, or says what the summary says: that is the job's.
//
//   spdlog::info   what a run is made of: the machine, limits, catalogue, shards as they are finished, what limited it
//   spdlog::debug  what happens to single items and helpers
// Names that a person gave go through printable() first.
#pragma once

#include <spdlog/spdlog.h>

#include <array>
#include <cstdint>

#include "src/base/choice.h"

namespace millrace {

// Sets spdlog's default logger to stderr at this level (trace, debug, info, warn, error, off).
// How much is logged; each level with those behind it.
enum class LogLevel : std::uint8_t { trace, debug, info, warn, error, off };
constexpr std::array<Choice<LogLevel>, 6> choices_of(LogLevel) {
  return {{{"trace", LogLevel::trace},
           {"debug", LogLevel::debug},
           {"info", LogLevel::info},
           {"warn", LogLevel::warn},
           {"error", LogLevel::error},
           {"off", LogLevel::off}}};
}

void start_logging(LogLevel level);

}  // namespace millrace
