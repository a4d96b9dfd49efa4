#include "src/base/text.h"

#include <gtest/gtest.h>

#include <random>

namespace millrace {
namespace {

using namespace std::string_literals;

TEST(Text, Hex) {
  EXPECT_EQ(hex_of_bytes(std::vector<std::uint8_t>{0x00, 0x0f, 0xa5, 0xff}), "000fa5ff");
  EXPECT_EQ(hex_of_bytes({}), "");
  EXPECT_EQ(hex_of_bits({}), "");
  EXPECT_EQ(hex_of_bits(std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 0, 1}), "a1");
  // Six bits are right-aligned in two digits: 00 10'0001.
  EXPECT_EQ(hex_of_bits(std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1}), "21");
  EXPECT_EQ(hex_of_bits(std::vector<std::uint8_t>{0}), "0");
}

TEST(Text, Base64KnownAnswers) {
  // RFC 4648, section 10.
  const std::pair<const char*, const char*> kPairs[] = {{"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg=="},
                                                        {"fooba", "Zm9vYmE="},
                                                        {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : kPairs) {
    EXPECT_EQ(to_base64(plain), coded);
    EXPECT_EQ(from_base64(coded), plain);
  }
}

TEST(Text, Base64RoundTrip) {
  std::mt19937 random(5);
  for (std::size_t length = 0; length < 200; ++length) {
    std::string bytes;
    for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(random());
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Text, Base64RefusesWhatItIsNot) {
  for (const auto& bad : {"A"s, "AA"s, "AAA"s, "A==="s, "===="s, "AA=A"s, "A=AA"s, "AAA\n"s, "AA A"s, "AA-_"s,
                          "Zg==Zg=="s, "AAA\0"s, "\xff\xff\xff\xff"s}) {
    EXPECT_EQ(from_base64(bad), std::nullopt) << escape_unprintable(bad);
  }
}

TEST(Text, Utf8) {
  for (const auto& good : {""s, "plain"s, "\xC2\x80"s, "Gr\xC3\xBC\xC3\x9F"s, "\xE2\x82\xAC"s, "\xED\x9F\xBF"s,
                           "\xEE\x80\x80"s, "\xF0\x9F\x98\x80"s, "\xF4\x8F\xBF\xBF"s, "a\0b"s}) {
    EXPECT_TRUE(is_utf8(good)) << escape_unprintable(good);
    EXPECT_EQ(replace_invalid_utf8(good), good);
  }
  for (const auto& bad : {"\x80"s, "\xC0\x80"s, "\xC1\xBF"s, "\xC3"s, "\xE0\x9F\xBF"s, "\xED\xA0\x80"s, "\xE2\x82"s,
                          "\xF0\x8F\xBF\xBF"s, "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFF"s, "\xC3("s}) {
    EXPECT_FALSE(is_utf8(bad)) << escape_unprintable(bad);
    EXPECT_TRUE(is_utf8(replace_invalid_utf8(bad)));
  }
  EXPECT_EQ(replace_invalid_utf8("a\xFF"
                                 "b\xE2\x82"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Text, PrintableCannotDriveATerminal) {
  EXPECT_EQ(escape_unprintable("a\x1B[31m\n\t\x7F"), "a\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(escape_unprintable("\xC2\x9B"
                               "31m"),
            "\\x9b31m");  // U+009B is a terminal's "ESC [" in one character
  EXPECT_EQ(escape_unprintable("\xC2\xA0\xC3\x9F"), "\xC2\xA0\xC3\x9F");
  EXPECT_EQ(escape_unprintable("photo\u202Egpj.exe"), "photo\\u{202e}gpj.exe");
  EXPECT_EQ(escape_unprintable("\u2066a\u2069\u200F\u061C\u2028"), "\\u{2066}a\\u{2069}\\u{200f}\\u{061c}\\u{2028}");
  EXPECT_EQ(escape_unprintable("\u2019 \u2013 \u0627 \u2070 \u200D"), "\u2019 \u2013 \u0627 \u2070 \u200D");
  EXPECT_EQ(escape_unprintable("a\0b"s), "a\\x00b");
}

TEST(Text, Globs) {
  struct Case {
    const char* pattern;
    const char* path;
    bool matches;
  };
  const Case kCases[] = {
      {"*.jpg", "a.jpg", true},
      {"*.jpg", "deep/er/a.jpg", true},  // without '/', the last component only
      {"*.jpg", "a.jpg/b", false},
      {"*", "", true},
      {"", "", true},
      {"", "a", false},
      {"a/*.jpg", "a/x.jpg", true},
      {"a/*.jpg", "a/b/x.jpg", false},
      {"a/?.jpg", "a/x.jpg", true},
      {"a/?.jpg", "a/.jpg", false},
      {"a?b/*", "a/b/c", false},
      {"a/**", "a/b/c", true},
      {"a/**", "b/a/c", false},
      {"**/x", "x", true},
      {"**/x", "a/x", true},
      {"**/x", "a/b/c/x", true},
      {"**/x", "ax", false},
      {"a/**/b", "a/b", true},
      {"a/**/b", "a/x/y/b", true},
      {"a/**/b", "ab", false},
      {"a/**/b", "a/xb", false},
      {"**/cache/**", "home/me/cache/a/b", true},
      {"**/cache/**", "home/me/caches/a", false},
      {"**/*.jpg", "x/y/z.jpg", true},
      {"**/*.jpg", "x/y/z.png", false},
      {"**/a*/**/b*", "q/ax/w/e/by", true},
      {"/*/b", "/a/b", true},
      {"[a-c]1", "b1", true},
      {"[a-c]1", "d1", false},
      {"[!a-c]1", "d1", true},
      {"[^a-c]1", "b1", false},
      {"[]]", "]", true},
      {"[a-]", "-", true},
      {"[a", "a", false},  // never closed: matches nothing
      {"x/[!a]b", "x//b", false},
      {"[\xC3-\xC5]", "\xC4", true},
      {"a*b*c", "axxbyyc", true},
      {"a*b*c", "axxbyy", false},
      {"*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
  };
  for (const auto& [pattern, path, matches] : kCases)
    EXPECT_EQ(glob_match(pattern, path), matches) << pattern << " on " << path;
}

TEST(Text, Parts) {
  EXPECT_EQ(split("a,b,,c", ','), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(lower_ascii("AbC\xC3\x84"), "abc\xC3\x84");
  EXPECT_EQ(file_name("/a/b.c"), "b.c");
  EXPECT_EQ(file_name("/a/"), "");
  EXPECT_EQ(file_name("b"), "b");
  EXPECT_EQ(extension("/a.d/b.JPG"), "jpg");
  EXPECT_EQ(extension("/a.d/b"), "");
  EXPECT_EQ(extension(".hidden"), "");
  EXPECT_EQ(extension("a.tar.gz"), "gz");
  EXPECT_EQ(extension("a."), "");
}

TEST(Text, CsvQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(quote_csv_field("plain name.jpg"), "plain name.jpg");
  EXPECT_EQ(quote_csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(quote_csv_field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
  for (const char* formula : {"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "-", "\t=1"}) {
    EXPECT_EQ(quote_csv_field(formula), std::string("'") + formula);
  }
  for (const char* plain : {"-5", "+0.25", "-1e-9", "-inf", "", "a=b", "2024-01-01"})
    EXPECT_EQ(quote_csv_field(plain), plain);
  EXPECT_EQ(quote_csv_field("'=1"), "''=1") << "not what '=1' without it becomes";
  EXPECT_EQ(quote_csv_field("'quoted'"), "'quoted'");
  EXPECT_EQ(quote_csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
}

TEST(GlobMatchInside, TriesThePathAndTheFoldersItLiesIn) {
  const std::string path = "/home/me/Pictures/sorted/2021/one.jpg";
  for (const char* pattern : {"one.jpg", "*.jpg", "2021", "sorted", "sorted/2021", "sorted/20*", "sorted/2021/",
                              "/home/me/Pictures", "/home/me/Pictures/", "/home/*/Pictures/sorted", "**/one.jpg"})
    EXPECT_TRUE(glob_match_inside(pattern, path)) << pattern;
  for (const char* pattern :
       {"two.jpg", "202", "orted/2021", "Pictures/2021", "/Pictures", "/home/me/pictures", "*.png", "me/sorted", ""})
    EXPECT_FALSE(glob_match_inside(pattern, path)) << pattern;
}

}  // namespace
}  // namespace millrace
