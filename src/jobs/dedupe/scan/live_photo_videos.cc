#include "src/jobs/dedupe/scan/live_photo_videos.h"

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/io/image/live_photo.h"

namespace millrace::dedupe {
namespace {

// True for a video that is small enough: the video of a Live Photo lasts three seconds.
bool can_be_live_photo_video(const std::string& video) {
  constexpr std::uint64_t kMaxBytes = 64 << 20;
  const std::string kind = extension(video);
  if (kind != "mov" && kind != "mp4" && kind != "m4v") return false;
  const auto state = state_of(video);
  return state && state->size <= kMaxBytes;
}

}  // namespace

LivePhotoVideos::LivePhotoVideos(const std::vector<std::string>& videos) {
  for (const std::string& video : videos) unread_[folder_of(video)].push_back(video);
}

std::vector<std::string> LivePhotoVideos::of(const std::string& picture) {
  const std::string folder = folder_of(picture);
  const auto unread = unread_.find(folder);
  if (unread == unread_.end() && by_identifier_.count(folder) == 0) return {};
  const std::string& identifier = identifier_of_picture(picture);
  if (identifier.empty()) return {};
  auto& videos = by_identifier_[folder];
  if (unread != unread_.end()) {
    for (const std::string& video : unread->second) videos[identifier_of_video(video)].push_back(video);
    unread_.erase(unread);
  }
  const auto found = videos.find(identifier);
  return found == videos.end() ? std::vector<std::string>() : found->second;
}

bool LivePhotoVideos::has_other_identifier(const std::string& video, const std::string& picture) {
  const std::string& video_identifier = identifier_of_video(video);
  if (video_identifier.empty()) return false;
  const std::string& picture_identifier = identifier_of_picture(picture);
  return !picture_identifier.empty() && picture_identifier != video_identifier;
}

const std::string& LivePhotoVideos::identifier_of_video(const std::string& path) {
  const auto [at, fresh] = known_.try_emplace(path);
  if (fresh && can_be_live_photo_video(path)) at->second = read_video_live_photo_id(path);
  return at->second;
}

const std::string& LivePhotoVideos::identifier_of_picture(const std::string& path) {
  const auto [at, fresh] = known_.try_emplace(path);
  if (fresh) at->second = read_picture_live_photo_id(path);
  return at->second;
}

}  // namespace millrace::dedupe
