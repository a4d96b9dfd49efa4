// Enters: the name of a helper program.
// Leaves: where it lies.
// Never: looks in folders that PATH names, or in the current one.
#pragma once

#include <string>

namespace millrace {

// In the folder that MILLRACE_HELPERS names, where it is set. Else beside the shared library or the program that this
// code is in, as a build leaves it; or, where that lies in an installation's bin or lib, in its libexec/millrace. A
// path under which nothing may lie, for messages.
std::string find_helper(const std::string& name);

}  // namespace millrace
