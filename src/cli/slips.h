// Input: the words of a command line, and the options of the program.
// Output: Failure(usage) that names what was probably meant.
// Never: it judges values.
#pragma once

#include <CLI/CLI.hpp>

namespace millrace::cli {

// Failure(usage) for a slip: an option that there is not; and "--report --quiet" where --report takes a value, which
// was forgotten, or a variable of the shell was empty. Who means it writes "--report=--quiet".
void refuse_slips(const CLI::App& app, int argc, const char* const* argv);

}  // namespace millrace::cli
