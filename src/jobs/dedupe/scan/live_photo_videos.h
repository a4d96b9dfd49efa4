// Input: a picture, and the videos of its folder that no name assigns to a picture.
// Output: the videos of its Live Photo, by the identifier that Apple's cameras give both files.
// Never: reads a file twice; reads a video before a picture with an identifier needs those of its folder.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace millrace::dedupe {

class LivePhotoVideos {
 public:
  explicit LivePhotoVideos(const std::vector<std::string>& videos);

  std::vector<std::string> of(const std::string& picture);
  // True if both have an identifier, and the two differ: the camera's counter started again.
  bool has_other_identifier(const std::string& video, const std::string& picture);

 private:
  const std::string& identifier_of_video(const std::string& path);
  const std::string& identifier_of_picture(const std::string& path);

  std::map<std::string, std::vector<std::string>> unread_;                                // videos, by folder
  std::map<std::string, std::map<std::string, std::vector<std::string>>> by_identifier_;  // by folder
  std::map<std::string, std::string> known_;                                              // identifiers, by path
};

}  // namespace millrace::dedupe
