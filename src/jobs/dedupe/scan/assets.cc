#include "src/jobs/dedupe/scan/assets.h"

#include <algorithm>
#include <set>

#include "src/base/text.h"
#include "src/jobs/dedupe/scan/companions.h"

namespace millrace::dedupe {

void find_assets(Library& library) {
  const auto raw = static_cast<int>(ImageFormat::raw);
  // A RAW file that cannot be decoded is a companion all the same.
  std::vector<std::string> others = library.others;
  std::set<std::string> unread;
  for (const UnreadableFile& file : library.unreadable) {
    if (is_recording(file.path)) unread.insert(file.path);
  }
  others.insert(others.end(), unread.begin(), unread.end());
  std::sort(others.begin(), others.end());
  const bool alone = others.empty() && std::none_of(library.pictures.begin(), library.pictures.end(),
                                                    [&](const LibraryPicture& p) { return p.data.format == raw; });
  if (alone) return;  // no file could accompany a picture
  std::vector<AssetPicture> shots;
  std::vector<std::uint32_t> file_of;
  for (std::uint32_t i = 0; i < library.files.size(); ++i) {
    const LibraryFile& file = library.files[i];
    if (file.picture == kNone) continue;
    const CatalogPicture& picture = library.pictures[file.picture].data;
    shots.push_back({file.entry.path, static_cast<ImageFormat>(picture.format), picture.taken});
    file_of.push_back(i);
  }
  const AssetAssignment assets = assign_companions(shots, others);
  std::vector<bool> companion(library.files.size(), false);
  std::set<std::string> accompanying;
  for (std::size_t i = 0; i < shots.size(); ++i) {
    LibraryFile& file = library.files[file_of[i]];
    companion[file_of[i]] = assets.companion[i];
    file.has_raw = shots[i].format == ImageFormat::raw;
    if (assets.raw_of[i] != AssetAssignment::kNoPicture) {
      file.has_raw = true;
      file.companions.push_back(shots[assets.raw_of[i]].path);
    }
    for (const std::string& other : assets.sidecars[i]) {
      file.companions.push_back(other);
      file.has_video |= is_video(other);
      file.has_raw |= unread.count(other) > 0;
    }
    std::sort(file.companions.begin(), file.companions.end());
    accompanying.insert(file.companions.begin(), file.companions.end());
  }
  for (const std::string& other : library.others) {
    const bool recording = is_video(other) || extension(other) == "wav";
    if (!recording || accompanying.count(other) > 0) continue;
    library.unsupported_files.add(other);
    if (is_video(other)) library.videos.insert(other);
  }
  for (LibraryPicture& picture : library.pictures) {
    std::erase_if(picture.files, [&](std::uint32_t i) { return companion[i]; });
  }
}

}  // namespace millrace::dedupe
