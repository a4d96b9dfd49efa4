#include "src/jobs/dedupe/group_kind.h"

namespace millrace::dedupe {

const char* name_of(GroupKind kind) {
  switch (kind) {
    case GroupKind::identical:
      return "identical";
    case GroupKind::same_pixels:
      return "same pixels";
    case GroupKind::similar:
      return "similar";
    case GroupKind::altered:
      return "altered";
    case GroupKind::framed:
      return "framed";
    case GroupKind::series:
      return "series";
    case GroupKind::recoloured:
      return "recoloured";
    case GroupKind::burst:
      return "burst";
    case GroupKind::related:
      return "related";
  }
  return "related";
}

}  // namespace millrace::dedupe
