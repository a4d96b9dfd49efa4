// Input: a picture or a film of an Apple camera.
// Output: the identifier that both halves of a Live Photo have in common.
// Never: it decodes either.
#pragma once

#include <string>

namespace millrace {

// Empty where the file has none, or cannot be read.
std::string live_photo_of_picture(const std::string& path);
std::string live_photo_of_film(const std::string& path);

}  // namespace millrace
