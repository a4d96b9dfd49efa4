#include "src/jobs/dedupe/assets.h"

#include <algorithm>
#include <map>

#include "src/base/text.h"
#include "src/io/image/picture.h"

namespace millrace::dedupe {
namespace {

// Folder and stem, the stem in lower case: cameras and tools disagree about IMG_1.JPG and img_1.xmp.
std::string stem_key(const std::string& path, std::string_view name) {
  const std::size_t dot = name.find_last_of('.');
  const std::string stem = lower_ascii(dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot));
  return path.substr(0, path.size() - file_name(path).size()) + stem;
}

bool is(const Library& library, const File& file, ImageFormat format) {
  return library.pictures[file.picture].data.format == static_cast<int>(format);
}

bool one_moment(const CatalogPicture& a, const CatalogPicture& b) {
  return a.taken.empty() || b.taken.empty() || a.taken == b.taken;
}

bool is_film(const std::string& path) {
  const std::string ext = extension(path);
  return ext == "mov" || ext == "mp4" || ext == "m4v" || ext == "avi";
}

}  // namespace

void find_assets(Library& library) {
  std::map<std::string, std::vector<std::uint32_t>> by_stem;
  for (std::uint32_t i = 0; i < library.files.size(); ++i) {
    const std::string& path = library.files[i].entry.path;
    if (library.files[i].picture != kNone) by_stem[stem_key(path, file_name(path))].push_back(i);
  }
  std::vector<bool> companion(library.files.size(), false);
  for (auto& entry : by_stem) {
    std::vector<std::uint32_t>& members = entry.second;
    const auto with_format = [&](ImageFormat format) {
      return std::find_if(members.begin(), members.end(), [&](std::uint32_t i) { return is(library, library.files[i], format); });
    };
    const auto raw = with_format(ImageFormat::raw);
    if (raw == members.end()) continue;
    File& raw_file = library.files[*raw];
    raw_file.has_raw = true;
    auto shown = with_format(ImageFormat::jpeg);
    if (shown == members.end()) shown = with_format(ImageFormat::heif);
    if (shown == members.end()) continue;
    File& shown_file = library.files[*shown];
    if (!one_moment(library.pictures[shown_file.picture].data, library.pictures[raw_file.picture].data)) continue;
    shown_file.companions.push_back(raw_file.entry.path);
    shown_file.has_raw = true;
    companion[*raw] = true;
  }
  for (const std::string& other : library.others) {
    // photo.xmp and photo.jpg.xmp are both written.
    auto found = by_stem.find(stem_key(other, file_name(other)));
    if (found == by_stem.end()) {
      const std::string_view name = file_name(other);
      const std::string_view without = name.substr(0, name.find_last_of('.'));
      const auto inner = by_stem.find(stem_key(other, without));
      if (inner == by_stem.end()) continue;
      for (const std::uint32_t i : inner->second) {
        if (lower_ascii(file_name(library.files[i].entry.path)) == lower_ascii(without)) found = inner;
      }
      if (found == by_stem.end()) continue;
    }
    // The one that stands for the asset carries it; among several plain pictures, the first by name.
    const auto main = std::find_if(found->second.begin(), found->second.end(), [&](std::uint32_t i) { return !companion[i]; });
    if (main == found->second.end()) continue;
    library.files[*main].companions.push_back(other);
    library.files[*main].has_film |= is_film(other);
  }
  for (Picture& picture : library.pictures) {
    std::erase_if(picture.files, [&](std::uint32_t i) { return companion[i]; });
  }
  for (File& file : library.files) std::sort(file.companions.begin(), file.companions.end());
}

}  // namespace millrace::dedupe
