// Input: text for a person, or data for the program that reads our standard output.
// Output: the text on standard error, the data on standard output.
// Guarantees: a standard error that is closed, full or without a reader does not affect the program. A standard output
// that cannot be written throws a Failure with its own exit code. The numbers 0, 1 and 2 never refer to another file.
#pragma once

#include <string_view>

namespace millrace {

// Opens /dev/null on each of the descriptors 0, 1 and 2 that is closed. Otherwise the next file to be opened would get
// that number, and every message for a person would be written into it. Must be called before everything else.
void open_standard_descriptors();

// Writes all of the text, or gives up silently. Never throws.
void write_stderr(std::string_view text) noexcept;
// False once a write to standard error has failed: its reader is gone.
bool has_stderr() noexcept;

// Throws Failure(standard_output) if not all of the data can be written.
void write_stdout(std::string_view data);

}  // namespace millrace
