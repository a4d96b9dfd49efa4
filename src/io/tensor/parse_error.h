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

struct ParseError {
  ErrorCode code;
  std::string what, remedy = {};

  Error about(const std::string& subject) const { return {code, what, subject, remedy}; }
};

[[noreturn]] inline void throw_bad_data(std::string what) {
  throw ParseError{ErrorCode::bad_data, std::move(what), {}};
}
[[noreturn]] inline void unsupported(std::string what, std::string remedy = {}) {
  throw ParseError{ErrorCode::unsupported, std::move(what), std::move(remedy)};
}
[[noreturn]] inline void too_large(std::string what) { throw ParseError{ErrorCode::too_large, std::move(what), {}}; }

// Returns a name from a file for messages: it may be any text, and of any length.
inline std::string printable_name(std::string_view name) {
  constexpr std::size_t kMaxShown = 80;
  return name.size() <= kMaxShown ? escape_unprintable(name) : escape_unprintable(name.substr(0, kMaxShown)) + "...";
}

}  // namespace millrace
