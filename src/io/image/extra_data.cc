#include "src/io/image/extra_data.h"

#include <algorithm>

namespace millrace {

const char* name_of(ExtraDataKind kind) {
  switch (kind) {
    case ExtraDataKind::video:
      return "film";
    case ExtraDataKind::sound:
      return "sound";
    case ExtraDataKind::picture:
      return "further picture";
    case ExtraDataKind::sequence:
      return "sequence";
    case ExtraDataKind::profile:
      return "colour profile";
    case ExtraDataKind::raw_data:
      return "raw data";
    case ExtraDataKind::pages:
      return "pages";
    case ExtraDataKind::frames:
      return "frames";
    case ExtraDataKind::depth:
      return "depth";
    case ExtraDataKind::transparency:
      return "transparency";
    case ExtraDataKind::unknown:
      break;
  }
  return "unknown";
}

const char* describe_extra_data(ExtraDataKind kind) {
  switch (kind) {
    case ExtraDataKind::video:
      return "its video";
    case ExtraDataKind::sound:
      return "its sound";
    case ExtraDataKind::picture:
      return "its additional picture";
    case ExtraDataKind::sequence:
      return "its sequence of frames";
    case ExtraDataKind::profile:
      return "its colour profile";
    case ExtraDataKind::raw_data:
      return "its RAW data";
    case ExtraDataKind::pages:
      return "its further pages";
    case ExtraDataKind::frames:
      return "its further frames";
    case ExtraDataKind::depth:
      return "its samples of more than 8 bits";
    case ExtraDataKind::transparency:
      return "its transparency";
    case ExtraDataKind::unknown:
      break;
  }
  return "its unrecognized data after the picture";
}

void add_unshown_data(const UnshownData& unshown, std::vector<ExtraData>& extra_data) {
  if (unshown.pages) extra_data.push_back({ExtraDataKind::pages, 0});
  if (unshown.frames) extra_data.push_back({ExtraDataKind::frames, 0});
  if (unshown.depth) extra_data.push_back({ExtraDataKind::depth, 0});
  if (unshown.transparency) extra_data.push_back({ExtraDataKind::transparency, 0});
}

std::vector<std::string> name_unshown_data(const UnshownData& unshown) {
  std::vector<ExtraData> extra_data;
  add_unshown_data(unshown, extra_data);
  std::vector<std::string> out;
  for (const ExtraData& item : extra_data) out.emplace_back(name_of(item.what));
  return out;
}

UnshownData parse_unshown_names(const std::vector<std::string>& names) {
  const auto has = [&](ExtraDataKind kind) {
    return std::find(names.begin(), names.end(), name_of(kind)) != names.end();
  };
  return {has(ExtraDataKind::pages), has(ExtraDataKind::frames), has(ExtraDataKind::depth),
          has(ExtraDataKind::transparency)};
}

std::vector<ExtraDataKind> list_extra_data_kinds(const std::vector<ExtraData>& extra_data) {
  std::vector<ExtraDataKind> out;
  for (const ExtraData& item : extra_data) {
    if (std::find(out.begin(), out.end(), item.what) == out.end()) out.push_back(item.what);
  }
  return out;
}

std::optional<ExtraDataKind> find_missing_kind(const std::vector<ExtraData>& other, const std::vector<ExtraData>& one) {
  for (const ExtraData& held : one) {
    if (held.hash == 0 || std::find(other.begin(), other.end(), held) == other.end()) return held.what;
  }
  return std::nullopt;
}

}  // namespace millrace
