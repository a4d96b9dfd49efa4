// Input: names of pictures, of what may accompany them, and of a folder on disk.
// Output: which files belong to which picture.
// Never: decodes a picture.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/image/picture.h"
#include "src/jobs/dedupe/scan/live_films.h"

namespace millrace::dedupe {

// Folder and stem, the stem in lower case: cameras and tools disagree about IMG_1.JPG and img_1.xmp.
std::string stem_key(std::string_view path);

// True for a name that belongs to no format of pictures but may belong to one: film, XMP and other sidecars, Google
// Takeout's JSON behind a picture's full name.
bool may_accompany(const std::string& path);
bool is_film(const std::string& path);
// What a camera took down beside a picture: a film, a voice, a RAW, which its first bytes tell. No sidecar of words.
bool is_recording(const std::string& path);
// Whether one of `others` has its kind and its bytes.
bool has_copy(const std::string& file, const std::vector<std::string>& others);
// Of the recordings among these companions, the first that has no copy among those of the picture that stays;
// empty: each has one.
std::string recording_without_copy(const std::vector<std::string>& gone, const std::vector<std::string>& stays);

// A picture as far as the rule asks.
struct Shot {
  std::string path;
  ImageFormat format = ImageFormat::unknown;
  std::string taken;  // capture time from EXIF; may be empty
};

struct Assets {
  static constexpr std::uint32_t kAlone = 0xFFFFFFFF;
  std::vector<std::uint32_t> raw_of;               // for every shot, the RAW that accompanies it, or kAlone
  std::vector<bool> companion;                     // for every shot, whether it accompanies another
  std::vector<std::vector<std::string>> sidecars;  // for every shot, those of `others` that belong to it
};

// Same folder, same stem, same moment; which file stands for the asset is said in assets.h. Both lists in the order of
// their path bytes.
Assets assign_companions(const std::vector<Shot>& shots, const std::vector<std::string>& others);

struct Companions {
  std::vector<std::string> files;  // sorted
  // Pictures of the same folder that stand for themselves: of the same stem, to which files without one's full name
  // belong too, or of the same Live Photo.
  std::vector<std::string> siblings;
  std::vector<bool> shared;  // for every file, whether `siblings` share it
};

// The companions of files by the names in their folders as they were when first asked about, and by the first bytes of
// the pictures of their stem. Asked in the order of paths, it lists every folder once.
class CompanionFinder {
 public:
  Companions of(const std::string& path);

 private:
  void enter(const std::string& folder);
  void add_live_films(const std::string& path, Companions& to);

  std::string folder_;
  std::map<std::string, std::vector<std::string>> pictures_, others_;  // by stem_key
  std::map<std::string, LiveFilms> live_films_;                        // of no picture by their names; by folder
};

}  // namespace millrace::dedupe
