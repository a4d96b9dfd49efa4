#include "src/base/values.h"

#include <gtest/gtest.h>

#include "src/base/error.h"

namespace millrace {
namespace {

TEST(Values, ANumberIsAllOfItsTextAndInItsRange) {
  EXPECT_EQ(number_of("0.25", 0, 1), 0.25);
  EXPECT_EQ(number_of("1", 0, 1), 1);
  EXPECT_EQ(whole_number_of("-3", -5, 5), -3);
  for (const char* text : {"", " 1", "1 ", "1x", "0x1", "nan", "inf", "1.5.2", "2", "-0.1", "1,0"})
    EXPECT_THROW(number_of(text, 0, 1), Failure) << text;
  for (const char* text : {"", "1.0", "6", "99999999999999999999", "+1"})
    EXPECT_THROW(whole_number_of(text, -5, 5), Failure) << text;
}

TEST(Values, AColourIsSixDigits) {
  EXPECT_EQ(color_of("#FF8001"), (std::array<std::uint8_t, 3>{255, 128, 1}));
  EXPECT_EQ(color_of("#00000a"), (std::array<std::uint8_t, 3>{0, 0, 10}));
  for (const char* text : {"", "#", "ff8001", "#ff800", "#ff80011", "#ff800g", "#-f8001", "#0xff00", "red"})
    EXPECT_FALSE(color_of(text)) << text;
}

}  // namespace
}  // namespace millrace
