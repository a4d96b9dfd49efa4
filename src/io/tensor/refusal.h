// Input: the problem in bytes that somebody else wrote.
// Output: an exception within the readers of this folder; their public functions turn it into an Error.
// Never: leaves the folder as an exception.
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

// Returns a name from a file for messages: it may be any text, and of any length.
inline std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 80;
  return name.size() <= kMost ? printable(name) : printable(name.substr(0, kMost)) + "...";
}

}  // namespace millrace
