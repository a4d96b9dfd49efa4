#include "src/report/html.h"

#include "src/base/text.h"

namespace millrace {

std::string escape_html(std::string_view text) {
  std::string safe;
  const std::string shown = replace_invalid_utf8(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    switch (shown[i]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '\xEF':
        if (shown.compare(i, 3, "\xEF\xBF\xBE") == 0 || shown.compare(i, 3, "\xEF\xBF\xBF") == 0) {
          safe += "\xEF\xBF\xBD";
          i += 2;
          break;
        }
        [[fallthrough]];
      default:
        safe += shown[i];
    }
  }
  return safe;
}

std::string escape_html_name(std::string_view text) { return escape_html(escape_unprintable(text)); }

}  // namespace millrace
