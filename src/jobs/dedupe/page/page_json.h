// Input: a page's header and groups, and texts of any bytes.
// Output: the same in forms that are safe in HTML: JSON inside a script element, a component of a URL.
// Never: lets a byte that came from a file end the element that contains it.
#pragma once

#include <string>
#include <string_view>

#include "src/base/json.h"
#include "src/jobs/dedupe/page/duplicates_page.h"

namespace millrace::dedupe {

// Leaves out empty and false fields, which are most of them: the page reads a missing field the same way.
Json json_of(const PageGroup& group);
// `thumbs_url` is the folder of thumbnails, relative to the page.
Json json_of(const PageHeader& header, const std::string& thumbs_url);

// Returns the value as a single line for the inside of <script>.
std::string script_text(const Json& value);
// Escapes the bytes as they are, so a name that is not UTF-8 works too.
std::string url_component(std::string_view bytes);

}  // namespace millrace::dedupe
