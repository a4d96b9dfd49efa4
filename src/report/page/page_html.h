// Input: page.html, page.css and script/, joined by cmake/embed.cmake when the program is built.
// Output: the page as one text with the markers <!--maker-->, <!--title--> and <!--data-->, each exactly once.
// Never: changes at run time.
#pragma once

#include <string_view>

namespace millrace::report {

std::string_view page_html();

}  // namespace millrace::report
