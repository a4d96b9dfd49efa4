// Input: page.html, page.css and script/, which cmake/embed.cmake joins when the program is built.
// Output: the page as one text with the markers <!--title--> and <!--data-->, each exactly once.
// Never: changes at run time.
#pragma once

#include <string_view>

namespace millrace::dedupe {

std::string_view page_html();

}  // namespace millrace::dedupe
