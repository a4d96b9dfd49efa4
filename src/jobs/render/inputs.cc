#include "src/jobs/render/inputs.h"

#include <nlohmann/json.hpp>

#include "src/report/json_path.h"

namespace millrace::render {
namespace {

// The same without names; null where it is not what inputs_json makes.
nlohmann::json contents(const std::string& text) {
  auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return nullptr;
  for (auto& entry : list) {
    if (!entry.is_object()) return nullptr;
    entry.erase("path");
    entry.erase("path_base64");
  }
  return list;
}

}  // namespace

std::string inputs_json(const std::vector<Source>& sources) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Source& source : sources) {
    // One entry for all the series of a table.
    if (source.input < list.size()) continue;
    nlohmann::ordered_json entry;
    add_path(entry, source.path);
    if (!source.dataset.empty()) entry["dataset"] = utf8_for_display(source.dataset);
    entry["bytes"] = source.bytes;
    entry["xxh3"] = source.content;
    list.push_back(std::move(entry));
  }
  return list.dump();
}

bool same_inputs(const std::string& a, const std::string& b) {
  const auto one = contents(a), other = contents(b);
  return !one.is_null() && one == other;
}

}  // namespace millrace::render
