#include "src/io/image/holding.h"

#include <algorithm>

namespace millrace {

const char* name_of(HoldingKind kind) {
  switch (kind) {
    case HoldingKind::film:
      return "film";
    case HoldingKind::sound:
      return "sound";
    case HoldingKind::picture:
      return "further picture";
    case HoldingKind::sequence:
      return "sequence";
    case HoldingKind::profile:
      return "colour profile";
    case HoldingKind::raw_data:
      return "raw data";
    case HoldingKind::pages:
      return "pages";
    case HoldingKind::frames:
      return "frames";
    case HoldingKind::depth:
      return "depth";
    case HoldingKind::transparency:
      return "transparency";
    case HoldingKind::unknown:
      break;
  }
  return "unknown";
}

const char* words_of(HoldingKind kind) {
  switch (kind) {
    case HoldingKind::film:
      return "its film";
    case HoldingKind::sound:
      return "its sound";
    case HoldingKind::picture:
      return "its further picture";
    case HoldingKind::sequence:
      return "its sequence of frames";
    case HoldingKind::profile:
      return "its colour profile";
    case HoldingKind::raw_data:
      return "its RAW data";
    case HoldingKind::pages:
      return "its further pages";
    case HoldingKind::frames:
      return "its further frames";
    case HoldingKind::depth:
      return "its samples of more than 8 bits";
    case HoldingKind::transparency:
      return "its transparency";
    case HoldingKind::unknown:
      break;
  }
  return "what lies behind its picture";
}

void add(const Unshown& unshown, std::vector<Holding>& holdings) {
  if (unshown.pages) holdings.push_back({HoldingKind::pages, 0});
  if (unshown.frames) holdings.push_back({HoldingKind::frames, 0});
  if (unshown.depth) holdings.push_back({HoldingKind::depth, 0});
  if (unshown.transparency) holdings.push_back({HoldingKind::transparency, 0});
}

std::vector<std::string> names_of(const Unshown& unshown) {
  std::vector<Holding> holdings;
  add(unshown, holdings);
  std::vector<std::string> out;
  for (const Holding& holding : holdings) out.emplace_back(name_of(holding.what));
  return out;
}

Unshown unshown_of(const std::vector<std::string>& names) {
  const auto has = [&](HoldingKind kind) {
    return std::find(names.begin(), names.end(), name_of(kind)) != names.end();
  };
  return {has(HoldingKind::pages), has(HoldingKind::frames), has(HoldingKind::depth), has(HoldingKind::transparency)};
}

std::vector<HoldingKind> kinds_of(const std::vector<Holding>& holdings) {
  std::vector<HoldingKind> out;
  for (const Holding& holding : holdings) {
    if (std::find(out.begin(), out.end(), holding.what) == out.end()) out.push_back(holding.what);
  }
  return out;
}

std::optional<HoldingKind> lacks(const std::vector<Holding>& other, const std::vector<Holding>& one) {
  for (const Holding& held : one) {
    if (held.hash == 0 || std::find(other.begin(), other.end(), held) == other.end()) return held.what;
  }
  return std::nullopt;
}

}  // namespace millrace
