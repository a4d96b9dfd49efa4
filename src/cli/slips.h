// Enters: the words of a command line, and what options there are.
// Leaves: Failure(usage) that says what was meant.
// Never: looks at what a value says.
#pragma once

#include <CLI/CLI.hpp>

namespace millrace::cli {

// Failure(usage) for a slip: an option that there is not; and "--report --quiet" where --report takes a value, which
// was forgotten, or a variable of the shell was empty. Who means it writes "--report=--quiet".
void refuse_slips(const CLI::App& app, int argc, const char* const* argv);

}  // namespace millrace::cli
