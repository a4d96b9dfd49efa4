// Enters: a path, which is bytes; or errors about some.
// Leaves: how every JSON output of ours writes it: "path" as text for people, and "path_base64" when that loses
// something.
// Never: leaves out what is needed to open the file again.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/report/json_text.h"

namespace millrace {

inline void add_path(nlohmann::ordered_json& object, const std::string& path) {
  object["path"] = utf8_for_display(path);
  if (!is_utf8(path)) object["path_base64"] = base64(path);
}

inline void add_path(JsonText& object, const std::string& path) {
  object.key("path").value(utf8_for_display(path));
  if (!is_utf8(path)) object.key("path_base64").value(base64(path));
}

// What could not be used: [{"path": ..., "reason": ...}, ...].
inline nlohmann::ordered_json json_of_unusable(std::span<const Error> errors) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Error& error : errors) {
    nlohmann::ordered_json one;
    add_path(one, error.subject);
    one["reason"] = error.what;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace millrace
