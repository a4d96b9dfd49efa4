// Input: text of the library, whose names and paths may be any bytes; options as Python passes them.
// Output: the same text for Python, and the reverse.
// Never: loses a byte.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "millrace/jobs.h"

namespace millrace::python {

namespace nb = nanobind;

// Text as str; bytes that are not UTF-8 are decoded as os.fsdecode() decodes them.
nb::object text_of(const std::string& text);
// Contents of a bytes object.
std::string bytes_of(nb::handle bytes);
std::vector<std::string> texts_of(nb::handle list);
// A list of (name, list of bytes).
std::vector<std::pair<std::string, std::vector<std::string>>> options_of(nb::handle list);
// A list of dicts.
nb::list dicts_of(const std::vector<JobOption>& options);

}  // namespace millrace::python
