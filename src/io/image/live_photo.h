// Input: a picture or a video of an Apple camera.
// Output: the identifier that the picture and the video of a Live Photo share.
// Never: decodes either.
#pragma once

#include <string>

namespace millrace {

// These two return an empty text where the file has no identifier or cannot be read.
std::string read_picture_live_photo_id(const std::string& path);
std::string read_video_live_photo_id(const std::string& path);

}  // namespace millrace
