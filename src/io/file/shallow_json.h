// Enters: a text that may be anybody's.
// Leaves: it as JSON; discarded where it is none, or is nested deeper than what this program writes.
// Never: takes all of the stack: what is nested as deep as its text is long does when it is copied.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace millrace {

// How many lists and objects are open at once, at most; in a text that is no JSON it may be any number.
inline int depth_of_json(const std::string& text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

// The parser's own callback would do, but looks at all of a list whenever one of it ends.
inline nlohmann::ordered_json shallow_json(const std::string& text) {
  constexpr int kDeepest = 64;
  if (depth_of_json(text) > kDeepest) return nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded);
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

}  // namespace millrace
