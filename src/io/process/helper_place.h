// Input: the name of a helper program.
// Output: where it lies, and what to do where it does not.
// Never: looks in the current folder, or in one that PATH names by a relative path; takes a helper from PATH by the
// helper's own name.
//
// A helper is trusted as the program is: it locks itself in, nothing locks it in before it runs. So it is taken from
// where the program or the library lies, which who wrote that could have written as well, or from where a person said.
// A wheel's package has only some helpers; the others are an installation's. Whoever types `millrace` runs what PATH
// finds, and the helper is taken from where that program really lies: who could plant one there could have planted the
// program. A process of Python that never runs a program does trust PATH for this; MILLRACE_HELPERS, which goes first,
// is its way out. Nobody asks of which version a helper is.
#pragma once

#include <string>

namespace millrace {

// In the folder that MILLRACE_HELPERS names, where it is set. Else beside the shared library or the program that this
// code is in, as a build leaves it; or, where that lies in an installation's bin or lib, in its libexec/millrace. Else,
// and only where this code lies in a Python package, as one of these two lies to a `millrace` of an absolute folder on
// PATH, links resolved; the first that has it. A path under which nothing may lie, for messages.
std::string find_helper(const std::string& name);
// As if this code lay in `folder`, a real path; MILLRACE_HELPERS apart.
std::string find_helper_of(const std::string& folder, const std::string& name);

// This code lies in a Python package: a folder with an __init__.py.
bool in_python_package();

// What to do where it is missing.
std::string helper_remedy(const std::string& name);

}  // namespace millrace
