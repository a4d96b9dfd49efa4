#include "src/io/image/holding.h"

#include <algorithm>

namespace millrace {

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
    case HoldingKind::unknown:
      break;
  }
  return "what lies behind its picture";
}

std::optional<HoldingKind> lacks(const std::vector<Holding>& other, const std::vector<Holding>& one) {
  for (const Holding& held : one) {
    if (held.hash == 0 || std::find(other.begin(), other.end(), held) == other.end()) return held.what;
  }
  return std::nullopt;
}

}  // namespace millrace
