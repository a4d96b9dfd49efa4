// Input: nothing.
// Output: the libraries that this program itself uses, with their versions.
// Never: lists the libraries of the decoding helper, which reports them itself.
#pragma once

#include <string>
#include <vector>

namespace millrace::doctor {

struct LibraryVersion;

std::vector<LibraryVersion> list_libraries();

// Returns names for the list of formats, such as "libjpeg-turbo 2.1.5" and "libpng 1.6.39 with zlib 1.2.13".
std::string jpeg_library();
std::string png_library();

}  // namespace millrace::doctor
