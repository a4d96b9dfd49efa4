// Input: nothing.
// Output: the libraries that this program itself uses, with their versions.
// Never: names those of the decoding helper, which the helper tells itself.
#pragma once

#include <string>
#include <vector>

namespace millrace::doctor {

struct Library;

std::vector<Library> own_libraries();

// "libjpeg-turbo 2.1.5" and "libpng 1.6.39 with zlib 1.2.13", for the list of formats.
std::string jpeg_library();
std::string png_library();

}  // namespace millrace::doctor
