// Input: a page's header and groups, and texts of any bytes.
// Output: what of them may stand in HTML: JSON inside a script element, a component of an address.
// Never: lets a byte that came from a file end the element that it stands in.
#pragma once

#include <string>
#include <string_view>

#include "src/base/json.h"
#include "src/jobs/dedupe/page/page.h"

namespace millrace::dedupe {

// Empty and false fields are left out: the page reads a missing one the same, and most are.
Json json_of(const PageGroup& group);
// `thumbs_url` is the folder of thumbnails, relative to the page.
Json json_of(const PageHeader& header, const std::string& thumbs_url);

// One line for inside <script>.
std::string script_text(const Json& value);
// Bytes go out as they are, so a name that is not UTF-8 works too.
std::string url_component(std::string_view bytes);

}  // namespace millrace::dedupe
