// Input: names of pictures and of files that may accompany them, or a folder on disk.
// Output: the companions of each picture.
// Never: decodes a picture.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/image/picture.h"
#include "src/jobs/dedupe/scan/live_photo_videos.h"

namespace millrace::dedupe {

// Returns the folder and the stem, the stem in lower case: cameras and tools disagree about IMG_1.JPG and img_1.xmp.
std::string stem_key(std::string_view path);

// True for a name without a picture extension whose file may belong to a picture: video, XMP and other sidecars. Google
// Takeout's JSON counts too; its name contains the picture's full name.
bool can_be_companion(const std::string& path);
bool is_video(const std::string& path);
// True for a recording that a camera made beside a picture: a video, a voice memo, or a RAW file (by its first bytes).
// False for sidecars with metadata.
bool is_recording(const std::string& path);
// True if one of `others` has the same extension and the same bytes.
bool has_copy(const std::string& file, const std::vector<std::string>& others);
// Returns the first recording of `removed`, the companions of a removable picture, without a copy among `kept`, the
// companions of the kept one. Empty if each has a copy.
std::string find_recording_without_copy(const std::vector<std::string>& removed, const std::vector<std::string>& kept);

// The properties of a picture that decide which files belong together.
struct AssetPicture {
  std::string path;
  ImageFormat format = ImageFormat::unknown;
  std::string taken;  // capture time from EXIF; may be empty
};

struct AssetAssignment {
  static constexpr std::uint32_t kNoPicture = 0xFFFFFFFF;
  std::vector<std::uint32_t> raw_of;               // for every shot, the RAW file that accompanies it, or kNoPicture
  std::vector<bool> companion;                     // for every shot, true if it accompanies another
  std::vector<std::vector<std::string>> sidecars;  // for every shot, those of `others` that belong to it
};

// Assigns companions by folder, stem and moment; assets.h says which file represents the asset. Both lists must be
// sorted by path bytes.
AssetAssignment assign_companions(const std::vector<AssetPicture>& shots, const std::vector<std::string>& others);

struct Companions {
  std::vector<std::string> files;  // sorted
  // Other pictures of the folder that represent their asset. They share files with this one: those of the same stem
  // without a full picture name, or of the same Live Photo.
  std::vector<std::string> siblings;
  std::vector<bool> shared;  // for every file, true if `siblings` share it
};

// Finds the companions of a picture. It uses the names in the folder at the time of the first query, and the first
// bytes of the pictures of its stem. If queried in the order of paths, it lists every folder once.
class CompanionFinder {
 public:
  Companions of(const std::string& path);

 private:
  void list_folder(const std::string& folder);
  void add_live_photo_videos(const std::string& path, Companions& to);

  std::string folder_;
  std::map<std::string, std::vector<std::string>> pictures_, others_;  // by stem_key
  std::map<std::string, LivePhotoVideos> live_photo_videos_;  // by folder; videos that no name assigns to a picture
};

}  // namespace millrace::dedupe
