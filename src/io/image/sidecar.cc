#include "src/io/image/sidecar.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/io/image/metadata/xmp.h"
#include "src/io/image/photo_metadata.h"
#include "src/io/image/takeout.h"

namespace millrace {
void add_sidecar_xmp(std::string_view packet, Provenance& to) { add_xmp_facts(read_xmp(packet), to); }

void add_takeout_json(std::string_view text, Provenance& to) {
  const TakeoutFacts facts = read_takeout(text);
  to.description = to.description || !facts.description.empty();
  to.gps = to.gps || facts.latitude.has_value();
  to.favourite = to.favourite || facts.favourite;
  to.people = std::max(to.people, static_cast<std::uint32_t>(facts.people.size()));
}

bool is_settings_sidecar(std::string_view path) {
  const std::string kind = extension(path);
  return kind == "aae" || kind == "pp3" || kind == "dop" || kind == "on1";
}

void add_sidecar_facts(const std::string& path, Provenance& to) {
  const std::string kind = extension(path);
  if (kind != "xmp" && kind != "json") {
    to.developed = to.developed || is_settings_sidecar(path);
    return;
  }
  const auto text = read_text(path, kMaxSidecarBytes);
  if (!text) return;
  if (kind == "json" && text->size() <= kMaxSidecarBytes) add_takeout_json(*text, to);
  // For longer settings, the beginning is enough.
  if (kind == "xmp") add_sidecar_xmp(std::string_view(*text).substr(0, kMaxSidecarBytes), to);
}

}  // namespace millrace
