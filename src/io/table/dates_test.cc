#include "src/io/table/dates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

using Form = DateNotation::Form;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86400 * kSecond;
// 1 December 2016 and what follows it, in seconds, as `date -u -d 2016-12-01 +%s` says.
constexpr std::int64_t kDecember = 1480550400 * kSecond;

DateReading read(const std::vector<std::string>& column, DateOrder order = DateOrder::unknown) {
  return read_dates(
      column.size(), [&](std::size_t i) -> std::string_view { return column[i]; }, order);
}
std::vector<Form> forms(const std::vector<std::string>& column, DateOrder order = DateOrder::unknown) {
  std::vector<Form> out;
  for (const DateNotation& notation : read(column, order).possible) out.push_back(notation.form());
  return out;
}

// Texts for the first of December 2016, half past nine, in every notation.
TEST(Dates, EveryNotationGivesTheSameDay) {
  struct Written {
    const char* text;
    Form form;
    std::int64_t after = 0;
  };
  constexpr std::int64_t kHalfPastNine = (9 * 60 + 30) * 60 * kSecond;
  const std::vector<Written> all = {
      {"2016-12-01", Form::year_first},
      {"2016/12/1", Form::year_first},
      {"2016.12.01", Form::year_first},
      {"2016-12", Form::year_first},
      {"2016-12-01T09:30:00Z", Form::year_first, kHalfPastNine},
      {"2016-12-01 09:30", Form::year_first, kHalfPastNine},
      {"2016-12-01 04:30:00-05:00", Form::year_first, kHalfPastNine},
      {"2016-12-01 17:30:00+0800", Form::year_first, kHalfPastNine},
      {"2016-12-01T09:30:00.123456789Z", Form::year_first, kHalfPastNine + 123456789},
      {"2016.12.01 09:30:00.5", Form::year_first, kHalfPastNine + kSecond / 2},
      {"2016.12.01,09:30", Form::year_first, kHalfPastNine},
      {"2016-12-01 9:30 AM", Form::year_first, kHalfPastNine},
      {"2016-12-01 09:30 pm", Form::year_first, kHalfPastNine + 12 * 3600 * kSecond},
      {"2016-12-01 12:00 AM", Form::year_first},
      {"2016-12-01 24:00", Form::year_first, kDay},
      {" 2016-12-01 ", Form::year_first},
      {"2016-12-01Z", Form::year_first},
      {"20161201", Form::compact},
      {"2016-12-01 9-AM", Form::year_first, 9 * 3600 * kSecond},
      {"2016-12-01 9 PM", Form::year_first, 21 * 3600 * kSecond},
      {"20161201-09:30:00", Form::compact, kHalfPastNine},
      {"2016.12.01D09:30:00.000", Form::year_first, kHalfPastNine},
      {"2016-12-01 09:30:00 +0000 UTC", Form::year_first, kHalfPastNine},
      {"2016-12-01T15:00:00+05:30[Asia/Kolkata]", Form::year_first, kHalfPastNine},
      {"2016120109", Form::compact, 9 * 3600 * kSecond},
      {"20161201 093000", Form::compact, kHalfPastNine},
      {"20161201 0930", Form::compact, kHalfPastNine},
      {"201612010930", Form::compact, kHalfPastNine},
      {"20161201093000", Form::compact, kHalfPastNine},
      {"01-Dec-2016", Form::named_month},
      {"1 December 2016", Form::named_month},
      {"December 1, 2016", Form::named_month},
      {"Dec 01, 2016 09:30", Form::named_month, kHalfPastNine},
      {"01DEC2016", Form::named_month},
      {"01DEC2016:09:30:00", Form::named_month, kHalfPastNine},
      {"01-DEC-16", Form::named_month},
      {"Thu, Dec 1, 2016", Form::named_month},
      {"Thu 1 Dec 2016", Form::named_month},
      {"2016-Dec-01", Form::named_month},
      {"Dec 2016", Form::named_month},
      {"201612", Form::year_and_month},
      {"1480550400", Form::epoch},
      {"1480550400.25", Form::epoch, kSecond / 4},
      {"1480550400000", Form::epoch},
      {"1480550400000000", Form::epoch},
      {"1480550400000000001", Form::epoch, 1},
  };
  for (const Written& one : all) {
    const DateReading reading = read({one.text});
    ASSERT_EQ(reading.possible.size(), 1U) << one.text;
    EXPECT_EQ(reading.possible[0].form(), one.form) << one.text;
    EXPECT_EQ(reading.possible[0].parse(one.text), kDecember + one.after) << one.text;
  }
}

TEST(Dates, DayAndMonthAreFoundInTheWholeColumn) {
  EXPECT_THAT(forms({"01/12/2016", "02/12/2016", "13/12/2016"}), ElementsAre(Form::day_first));
  EXPECT_THAT(forms({"12/01/2016", "12/02/2016", "12/13/2016"}), ElementsAre(Form::month_first));
  EXPECT_THAT(forms({"01/12/2016", "02/12/2016"}), ElementsAre(Form::day_first, Form::month_first));
  EXPECT_THAT(forms({"01/12/2016", "02/12/2016"}, DateOrder::month_first), ElementsAre(Form::month_first));
  // A day that only one of the notations has, in one row of a thousand.
  std::vector<std::string> many(1000, "03.04.2016");
  many[777] = "31.03.2016";
  EXPECT_THAT(forms(many), ElementsAre(Form::day_first));
  // Years of two digits may stand at either end.
  EXPECT_THAT(forms({"16/12/01", "16/12/30"}), ElementsAre(Form::day_first, Form::short_year_first));
  EXPECT_THAT(forms({"16/12/01", "16/12/32"}), ElementsAre(Form::day_first));
  EXPECT_THAT(forms({"16/12/01", "16/12/30"}, DateOrder::year_first), ElementsAre(Form::short_year_first));
}

TEST(Dates, YearsOfTwoDigits) {
  const DateNotation notation(Form::day_first);
  EXPECT_EQ(notation.parse("01/12/16"), kDecember);
  EXPECT_LT(notation.parse("01/12/50").value(), 0);
  EXPECT_GT(notation.parse("01/12/49").value(), kDecember);
}

TEST(Dates, TheUnitOfAnEpochIsTheColumns) {
  // The first numbers are small enough to be seconds; the last is not.
  const DateReading reading = read({"0", "86400000", "1480550400000"});
  ASSERT_EQ(reading.possible.size(), 1U);
  EXPECT_EQ(reading.possible[0].parse("86400000"), kDay);
  EXPECT_STREQ(reading.possible[0].name(), "milliseconds since 1970");
  EXPECT_EQ(reading.possible[0].parse("99999999999999999"), std::nullopt) << "more than 64 bits of nanoseconds hold";
}

TEST(Dates, AnExchangeThatChangedItsUnit) {
  const DateReading reading = read({"1735603200000", "1735606800000", "1735689600000000", "1735693200000000"});
  ASSERT_EQ(reading.possible.size(), 1U);
  EXPECT_EQ(reading.possible[0].parse("1735603200000"), 1735603200 * kSecond);
  EXPECT_EQ(reading.possible[0].parse("1735689600000000"), 1735689600 * kSecond);
}

TEST(Dates, WhatIsNone) {
  // Numbers of rows, days since 1900, words, days that do not exist.
  for (const char* text : {"", "1", "42705", "t0001", "2016-13-01", "2016-02-30", "20161301", "31/02/2016", "1.5E9",
                           "9999-12-31", "2016-12-01 25:00", "2016-12-01 09:60", "2016-12-01 09:30 XYZ", "2016-12-01x",
                           "12-2016", "Foo 1, 2016", "2016-12-01 09:30+99:00", "NaT", "-"}) {
    EXPECT_THAT(forms({text}), IsEmpty()) << text;
  }
  EXPECT_THAT(forms({}), IsEmpty());
  std::vector<std::string> rows;
  for (int i = 0; i < 3000; ++i) rows.push_back(std::to_string(i));
  EXPECT_THAT(forms(rows), IsEmpty());
  EXPECT_FALSE(read(rows).unread);
}

TEST(Dates, OneAmongManyThatCannotBeReadIsNamed) {
  std::vector<std::string> dates(100, "2016-12-01");
  dates[57] = "n/a";
  const DateReading reading = read(dates);
  EXPECT_THAT(reading.possible, IsEmpty());
  EXPECT_EQ(reading.unread, 57U);
  EXPECT_EQ(read({"here", "are", "words", "2016-12-01"}).unread, 0U);
  EXPECT_EQ(read({"x", "2016-12-01", "2016-12-02", "y", "2016-12-03", "z"}).unread, 0U);
  EXPECT_EQ(read({"2016-12-01", "12/13/2016", "1 Dec 2016"}).unread, 1U) << "three notations in one column";
  EXPECT_FALSE(read({"here", "are", "words", "20161201"}).unread) << "a number may be one by chance";
}

TEST(Dates, Days) {
  for (const char* text : {"2016-12-01", "20161201", "01/12/2016", "Dec 1, 2016"}) EXPECT_TRUE(is_day(text)) << text;
  for (const char* text : {"", "2016-12-01 09:30", "1480550400", "2016", "09:30", "noon"})
    EXPECT_FALSE(is_day(text)) << text;
}

TEST(Dates, TimesOfDay) {
  for (const char* text : {"09:30", "9:30", "093000", "0930", "09:30:15.25", "9:30 PM"})
    EXPECT_TRUE(is_time_of_day(text)) << text;
  for (const char* text : {"", "9", "2016", "25:00", "1480550400", "noon", "2016-12-01"}) {
    // The text 2016 may mean 20:16: in a column beside a date it can be nothing else.
    EXPECT_EQ(is_time_of_day(text), std::string(text) == "2016") << text;
  }
}

}  // namespace
}  // namespace millrace
