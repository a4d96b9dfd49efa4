// Input: text for a person, or data for whoever reads from this program.
// Output: the text on standard error; the data on standard output.
// Guarantees: a standard error that is closed, full or has no reader changes nothing for the program; a standard output
//   that cannot be written is a Failure with an exit code of its own. The standard descriptors are never another
//   file's.
#pragma once

#include <string_view>

namespace millrace {

// Opens /dev/null on each of the descriptors 0, 1 and 2 that is closed: the next file that is opened would get its
// number, and with it every line that is meant for a person. Called first of all.
void open_standard_descriptors();

// Writes all of the text, or gives up without a word. Never throws.
void write_stderr(std::string_view text) noexcept;
// False once a write to standard error has failed: nobody reads there any more.
bool has_stderr() noexcept;

// Throws Failure(standard_output) where not all of it can be written.
void write_stdout(std::string_view data);

}  // namespace millrace
