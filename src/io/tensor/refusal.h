// Input: what is wrong with bytes that somebody else wrote.
// Output: it thrown through the readers of this folder, whose doors catch it and make an Error of it.
// Never: leaves the folder.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "src/base/error.h"
#include "src/base/text.h"

namespace millrace {

struct Refusal {
  ErrorCode code;
  std::string what, remedy = {};

  Error about(const std::string& subject) const { return {code, what, subject, remedy}; }
};

[[noreturn]] inline void bad(std::string what) { throw Refusal{ErrorCode::bad_data, std::move(what), {}}; }
[[noreturn]] inline void unsupported(std::string what, std::string remedy = {}) {
  throw Refusal{ErrorCode::unsupported, std::move(what), std::move(remedy)};
}
[[noreturn]] inline void too_large(std::string what) { throw Refusal{ErrorCode::too_large, std::move(what), {}}; }

// A name out of a file, for messages: it may be anything, and of any length.
inline std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 80;
  return name.size() <= kMost ? printable(name) : printable(name.substr(0, kMost)) + "...";
}

}  // namespace millrace
