// Input: a path, which is bytes; or errors about some.
// Output: the form of a path in every JSON output: "path" as text for people, and "path_base64" if that loses
//   something; and the path read back.
// Never: leaves out what is needed to open the file again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/text.h"
#include "src/report/json_writer.h"

namespace millrace {

inline void add_path(Json& object, const std::string& path) {
  object["path"] = replace_invalid_utf8(path);
  if (!is_utf8(path)) object["path_base64"] = to_base64(path);
}

inline void add_path(JsonWriter& object, const std::string& path) {
  object.key("path").value(replace_invalid_utf8(path));
  if (!is_utf8(path)) object.key("path_base64").value(to_base64(path));
}

// Returns the path that add_path() wrote; nothing if there is none, or one that no file can have.
inline std::optional<std::string> path_of(const Json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto encoded = object.find("path_base64"), plain = object.find("path");
  const auto at = encoded ? encoded : plain;
  if (!at || !at->is_string()) return std::nullopt;
  auto path = at == encoded ? from_base64(at->get<std::string>()) : std::optional(at->get<std::string>());
  if (!path || path->empty() || path->find('\0') != std::string::npos) return std::nullopt;
  return path;
}

// Returns the files that could not be used: [{"path": ..., "reason": ...}, ...].
inline Json unusable_files_to_json(std::span<const Error> errors) {
  Json out = Json::array();
  for (const Error& error : errors) {
    Json one;
    add_path(one, error.subject);
    one["reason"] = error.what;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace millrace
