// Input: texts of any bytes, names that strangers gave among them.
// Output: what of them may stand in HTML and in SVG, between tags and inside quoted attributes.
// Never: lets a text end the element or the attribute that it stands in, or turn the order of what is around it.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// & < > " ' escaped; bytes that are not UTF-8, and what XML does not know as a character (U+FFFE, U+FFFF), as U+FFFD.
std::string html_text(std::string_view text);

// html_text of what printable() (src/base/text.h) makes of it: control characters and those that turn the order of text
// are shown as escapes. The result is well-formed XML, too.
std::string html_name(std::string_view text);

}  // namespace millrace
