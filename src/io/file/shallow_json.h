// Enters: a text that may be anybody's.
// Leaves: it as JSON; discarded where it is none, or is nested deeper than what this program writes.
// Never: takes all of the stack: what is nested as deep as its text is long does when it is copied.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace millrace {

inline nlohmann::ordered_json shallow_json(const std::string& text) {
  constexpr int kDeepest = 64;
  bool deep = false;
  const auto look = [&deep](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
    deep = deep || depth > kDeepest;
    return !deep;
  };
  auto out = nlohmann::ordered_json::parse(text, look, false);
  if (deep) return nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded);
  return out;
}

}  // namespace millrace
