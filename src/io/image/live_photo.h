// Input: a picture or a video of an Apple camera.
// Output: the identifier that the picture and the video of a Live Photo share.
// Never: decodes either.
#pragma once

#include <string>

namespace millrace {

// These two return an empty text where the file has no identifier or cannot be read.
std::string live_photo_of_picture(const std::string& path);
std::string live_photo_of_film(const std::string& path);

}  // namespace millrace
