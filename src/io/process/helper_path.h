// Input: the name of a helper program.
// Output: its path, and advice for the case that it is missing.
// Never: searches the current folder, or a relative folder on PATH; takes a helper from PATH by the helper's own name.
//
// A helper is trusted like the program: it sandboxes itself, and nothing does so before it runs. So it is taken from a
// folder that a person named, or from that of the program or library, whose owner could have replaced these as well. A
// wheel's package has only some helpers; the others come from an installation. A user who types `millrace` runs the
// program that PATH finds. The helper is taken from that program's real folder, and whoever could plant a helper there
// could have planted the program. A Python process that never runs a program does trust PATH for this.
// MILLRACE_HELPERS, which has priority, avoids that. The version of a helper is not checked here.
#pragma once

#include <string>

namespace millrace {

// Searches these places: the folder in MILLRACE_HELPERS, and no other if it is set. Else the folder of the shared
// library or program that contains this code, as a build leaves it. Else, where that is an installation's bin or lib,
// its libexec/millrace. Else, only where this code is in a Python package, the same two places for each `millrace` in
// an absolute folder on PATH, links resolved; the first one that has it. If there is none, the result is a path for
// messages, where no file may exist.
std::string find_helper(const std::string& name);
// Searches as if this code were in `folder`, a real path, without MILLRACE_HELPERS.
std::string find_helper_near(const std::string& folder, const std::string& name);

// True where this code is in a Python package: a folder with an __init__.py.
bool is_in_python_package();

// Returns advice for a missing helper.
std::string helper_remedy(const std::string& name);

}  // namespace millrace
