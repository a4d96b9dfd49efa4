#include "src/io/table/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Rows = std::vector<std::vector<std::string>>;

// Returns the rows of a text that comes in blocks of `piece` bytes.
Rows rows_of(const std::string& text, std::size_t piece = 1 << 20) {
  std::size_t at = 0;
  CsvReader reader(
      [&] {
        const std::size_t count = std::min(piece, text.size() - at);
        at += count;
        return std::span(reinterpret_cast<const std::uint8_t*>(text.data()) + at - count, count);
      },
      "prices.csv");
  Rows out;
  while (reader.next()) out.emplace_back(reader.cells().begin(), reader.cells().end());
  return out;
}

std::string why(const std::string& text, std::size_t piece = 1 << 20) {
  try {
    rows_of(text, piece);
    return "none";
  } catch (const Failure& failure) {
    return failure.what();
  }
}

TEST(Csv, RowsAndCells) {
  EXPECT_THAT(rows_of("Date,OPEN,Close\n2020-01-02,1.5,2\n2020-01-03,-3e2,4\n"),
              ElementsAre(ElementsAre("Date", "OPEN", "Close"), ElementsAre("2020-01-02", "1.5", "2"),
                          ElementsAre("2020-01-03", "-3e2", "4")));
  EXPECT_THAT(rows_of("close\n1\n2\n3"),
              ElementsAre(ElementsAre("close"), ElementsAre("1"), ElementsAre("2"), ElementsAre("3")));
  EXPECT_THAT(rows_of(""), IsEmpty());
  EXPECT_THAT(rows_of("\xEF\xBB\xBF"), IsEmpty());
}

TEST(Csv, WhatSpreadsheetsWrite) {
  EXPECT_THAT(rows_of("\xEF\xBB\xBF\"close, last\";n\r\n\"1.5\";2\r\n\r\n+3;4"),
              ElementsAre(ElementsAre("close, last", "n"), ElementsAre("1.5", "2"), ElementsAre("+3", "4")));
  EXPECT_THAT(rows_of("\"a \"\"b\"\"\",c\n\"1\",\"two\nlines\"\n"),
              ElementsAre(ElementsAre("a \"b\"", "c"), ElementsAre("1", "two\nlines")));
  EXPECT_THAT(rows_of("\n\n a ;b\n1; \"2\" \n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
}

TEST(Csv, AQuoteInsideACellIsAQuote) {
  EXPECT_THAT(rows_of("close,note\n1,5\" x\n2, \"6\n"),
              ElementsAre(ElementsAre("close", "note"), ElementsAre("1", "5\" x"), ElementsAre("2", "\"6")));
}

TEST(Csv, WordsBeforeTheHeader) {
  EXPECT_THAT(rows_of("# from somewhere, 2020\n#\nclose,n\n1,2\n"),
              ElementsAre(ElementsAre("close", "n"), ElementsAre("1", "2")));
  EXPECT_THAT(rows_of("# nothing else"), IsEmpty());
}

TEST(Csv, PiecesOfAnySizeGiveTheSameRows) {
  const std::string text =
      "\xEF\xBB\xBF# words\n\n\"a \"\"b\"\"\",c\r\n\"1\",\"two\n\"\"lines\"\"\"\r\n\n3,4\n\"\",  \"5\" \n6,\"7\"";
  const Rows whole = rows_of(text);
  EXPECT_EQ(whole.size(), 5U);
  for (std::size_t piece = 1; piece < text.size(); ++piece) EXPECT_EQ(rows_of(text, piece), whole) << piece;
}

TEST(Csv, Numbers) {
  EXPECT_EQ(parse_csv_number("-3e2"), -300);
  EXPECT_EQ(parse_csv_number("+3"), 3);
  for (const char* gap : {"", "nan", "NaN", "null", "None", "NA", "n/a", "-"}) {
    ASSERT_TRUE(parse_csv_number(gap)) << gap;
    EXPECT_TRUE(std::isnan(*parse_csv_number(gap))) << gap;
  }
  for (const char* word : {"1.2.3", "12abc", "+-3", "+", "--", "1,5", "many", "0x10"})
    EXPECT_FALSE(parse_csv_number(word)) << word;
}

TEST(Csv, MistakesNameTheirLine) {
  for (const std::size_t piece : {1, 3, 1000}) {
    EXPECT_THAT(why("close,n\n1,2\n3\n", piece),
                HasSubstr("prices.csv: line 3: expected 2 cells as in the header, found 1"));
    EXPECT_THAT(why("close,n\n1,2\n3,4,5\n", piece), HasSubstr("line 3"));
    EXPECT_THAT(why("close\n\"1\n2\n", piece), HasSubstr("line 2: a quote is not closed"));
    EXPECT_THAT(why("close,n\n\"a\n\",2\n3\n", piece), HasSubstr("line 4: expected 2 cells"));
    EXPECT_THAT(why(std::string("close\n1\0", 8), piece), HasSubstr("line 2: a zero byte"));
    EXPECT_THAT(why("close,n\n\"1\" x,2\n", piece), HasSubstr("line 2: there is text after a closing quote"));
  }
}

TEST(Csv, ARowThatDoesNotEndIsRefused) {
  EXPECT_THAT(why("close\n\"" + std::string(3 * CsvReader::kMaxRowBytes, 'x')),
              HasSubstr("line 2: the row is longer than 16 MiB"));
}

}  // namespace
}  // namespace millrace
