#include "src/base/parse_values.h"

#include <gtest/gtest.h>

#include "src/base/error.h"

namespace millrace {
namespace {

TEST(Values, ANumberIsAllOfItsTextAndInItsRange) {
  EXPECT_EQ(parse_number("0.25", 0, 1), 0.25);
  EXPECT_EQ(parse_number("1", 0, 1), 1);
  EXPECT_EQ(parse_whole_number("-3", -5, 5), -3);
  for (const char* text : {"", " 1", "1 ", "1x", "0x1", "nan", "inf", "1.5.2", "2", "-0.1", "1,0"})
    EXPECT_THROW(parse_number(text, 0, 1), Failure) << text;
  for (const char* text : {"", "1.0", "6", "99999999999999999999", "+1"})
    EXPECT_THROW(parse_whole_number(text, -5, 5), Failure) << text;
}

TEST(Values, AColourIsSixDigits) {
  EXPECT_EQ(parse_color("#FF8001"), (std::array<std::uint8_t, 3>{255, 128, 1}));
  EXPECT_EQ(parse_color("#00000a"), (std::array<std::uint8_t, 3>{0, 0, 10}));
  for (const char* text : {"", "#", "ff8001", "#ff800", "#ff80011", "#ff800g", "#-f8001", "#0xff00", "red"})
    EXPECT_FALSE(parse_color(text)) << text;
}

}  // namespace
}  // namespace millrace
