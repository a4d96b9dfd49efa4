// Input: none.
// Output: a macro that marks the symbols exported by the shared library; all other symbols are hidden.
// Never: needed by code that only uses the library.
#pragma once

#define MILLRACE_API __attribute__((visibility("default")))
