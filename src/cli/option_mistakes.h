// Input: the words of a command line, and the options of the program.
// Output: Failure(usage) that suggests what the user probably meant.
// Never: checks values.
#pragma once

#include <CLI/CLI.hpp>

namespace millrace::cli {

// Throws Failure(usage) for probable mistakes. One is an option that does not exist. Another is "--report --quiet"
// where --report takes a value: it was forgotten, or a shell variable was empty. A user who means that value writes
// "--report=--quiet".
void refuse_option_mistakes(const CLI::App& app, int argc, const char* const* argv);

}  // namespace millrace::cli
