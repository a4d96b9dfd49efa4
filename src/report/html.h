// Input: texts of any bytes, among them names that strangers gave.
// Output: texts that are safe in HTML and in SVG, between tags and inside quoted attributes.
// Never: lets a text end its element or attribute, or reverse the order of the text around it.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Escapes & < > " '. Bytes that are not UTF-8, and code points that are no XML characters (U+FFFE, U+FFFF), become
// U+FFFD.
std::string escape_html(std::string_view text);

// Returns escape_html() of escape_unprintable() (src/base/text.h): control characters and those that change the order
// of text are shown as escapes. The result is well-formed XML, too.
std::string escape_html_name(std::string_view text);

}  // namespace millrace
