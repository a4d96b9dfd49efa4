#include "src/jobs/render/series/inputs_json.h"

#include "src/base/json.h"
#include "src/report/json_path.h"

namespace millrace::render {
std::string inputs_json(const std::vector<PriceSource>& sources) {
  Json list = Json::array();
  for (const PriceSource& source : sources) {
    // Series of one table share an entry.
    if (source.input < list.size()) continue;
    Json entry;
    add_path(entry, source.path);
    if (!source.dataset.empty()) entry["dataset"] = replace_invalid_utf8(source.dataset);
    entry["bytes"] = source.bytes;
    entry["xxh3"] = source.content;
    list.push_back(std::move(entry));
  }
  return list.dump();
}

}  // namespace millrace::render
