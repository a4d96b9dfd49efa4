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
      return "its further pages or frames";
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
  if (unshown.depth) holdings.push_back({HoldingKind::depth, 0});
  if (unshown.transparency) holdings.push_back({HoldingKind::transparency, 0});
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
