// Input: nothing.
// Output: the mark of what the shared library shows; all else in it is its own.
// Never: needed by who only uses the library.
#pragma once

#define MILLRACE_API __attribute__((visibility("default")))
