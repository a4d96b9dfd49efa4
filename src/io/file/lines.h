// Input: a file of lines that may come from anybody and may be of any length.
// Output: the lines, one at a time.
// Never: holds more than one line.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "src/io/file/file_reader.h"

namespace millrace {

// Returns false if `take` rejects a line, a line is longer than `longest` bytes, or the last line has no newline.
// Returns the error if the file cannot be read.
Outcome<bool> for_each_line(FileReader& file, std::size_t longest, const std::function<bool(const std::string&)>& take);

}  // namespace millrace
