// Input: a file of lines, which may be anybody's and of any length.
// Output: the lines, one by one.
// Never: holds more than one of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "src/io/file/reader.h"

namespace millrace {

// False where `take` was not pleased with a line, one is longer than `longest`, or the last one has no end; the error
// where the file cannot be read.
Outcome<bool> each_line(FileReader& file, std::size_t longest, const std::function<bool(const std::string&)>& take);

}  // namespace millrace
