#include "src/report/html.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(HtmlTest, NothingThatATextHoldsEndsWhatItStandsIn) {
  EXPECT_EQ(escape_html("</script><b a=\"1\" b='2'>&#0;"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;#0;");
  EXPECT_EQ(escape_html("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(escape_html("caf\xe9"), "caf\xef\xbf\xbd");
}

TEST(HtmlTest, WhatIsNoCharacterOfXmlIsReplaced) {
  EXPECT_EQ(escape_html("a\xef\xbf\xbe"
                        "b\xef\xbf\xbf"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_EQ(escape_html("\xef\xbc\x9d"), "\xef\xbc\x9d") << "another character that begins with the same byte";
}

TEST(HtmlTest, ANameNeitherTurnsTextNorHoldsControls) {
  const std::string shown = escape_html_name("a\xe2\x80\xaegpj.\x01\x1b[2J");
  EXPECT_EQ(shown.find("\xe2\x80\xae"), std::string::npos);
  for (const char c : shown) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  EXPECT_NE(shown.find("gpj."), std::string::npos);
}

}  // namespace
}  // namespace millrace
