// Checks for tests of figures: a picture must be a sound document of its own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/report/figure.h"

namespace millrace::report {

inline constexpr const char* kHostileName = "</script><img src=x onerror=\"1\">'&#0;\u202egpj \xff";

inline std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

// Checks attributes that hold places, without std::regex, which recurses: a path is too long for it.
inline void expect_finite_places(const std::string& tag) {
  for (const char* name :
       {"d", "x", "y", "cx", "cy", "r", "width", "height", "viewBox", "transform", "stroke-width", "font-size"}) {
    const std::string begins = std::string(" ") + name + "=\"";
    const std::size_t found = tag.find(begins);
    if (found == std::string::npos) continue;
    const std::size_t from = found + begins.size();
    std::string value = tag.substr(from, tag.find('"', from) - from);
    if (value.starts_with("rotate(")) value = value.substr(7);
    EXPECT_EQ(value.find_first_not_of("-MLHVZ0123456789., )"), std::string::npos) << tag;
  }
}

// Checks that elements end in order, attributes are quoted, entities are known to XML, and numbers of places are
// finite.
inline void expect_sound_svg(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < svg.size();) {
    if (svg[at] != '<') {
      if (svg[at] == '&') {
        const std::string rest = svg.substr(at, 6);
        EXPECT_TRUE(rest.starts_with("&amp;") || rest.starts_with("&lt;") || rest.starts_with("&gt;") ||
                    rest.starts_with("&quot;") || rest.starts_with("&#39;"))
            << rest;
      }
      ++at;
      continue;
    }
    const std::size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    EXPECT_EQ(tag.find('<'), std::string::npos) << tag;
    EXPECT_EQ(count_of(tag, "\"") % 2, 0u) << tag;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    expect_finite_places(tag);
    at = end + 1;
  }
  EXPECT_TRUE(open.empty());
}

// Checks the properties that every figure has, for any input.
inline void expect_sound(const Figure& figure) {
  expect_sound_svg(figure.svg);
  EXPECT_TRUE(figure.svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  EXPECT_NE(figure.svg.find(">\n<title>"), std::string::npos) << "a title for who cannot see it";
  EXPECT_NE(figure.svg.find("font-family=\"system-ui"), std::string::npos);
  EXPECT_NE(figure.svg.find("fill=\"#ffffff\""), std::string::npos) << "a white ground";
  EXPECT_EQ(figure.svg.find("style="), std::string::npos) << "the page's policy refuses it";
  EXPECT_EQ(figure.svg.find(" id="), std::string::npos) << "two of them on a page would be one";
  EXPECT_GT(figure.width, 0);
  EXPECT_FALSE(figure.numbers.columns.empty());
  EXPECT_LE(figure.numbers.rows.size(), kMaxNumberRows);
  for (const auto& row : figure.numbers.rows) EXPECT_EQ(row.size(), figure.numbers.columns.size());
}

}  // namespace millrace::report
