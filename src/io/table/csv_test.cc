#include "src/io/table/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CsvTable table_of(const std::string& text) { return CsvTable::parse(text, "prices.csv").or_throw(); }

TEST(Csv, ColumnsAreFoundByNameInAnyCase) {
  const CsvTable table = table_of("Date,OPEN,Close\n2020-01-02,1.5,2\n2020-01-03,-3e2,4\n");
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.find("open"), 1U);
  EXPECT_EQ(table.find("close"), 2U);
  EXPECT_FALSE(table.find("volume").has_value());
  EXPECT_THAT(table.numbers(1).or_throw(), ElementsAre(1.5, -300));
  EXPECT_THAT(table.texts(0), ElementsAre("2020-01-02", "2020-01-03"));
}

TEST(Csv, WhatSpreadsheetsWrite) {
  const CsvTable semicolons = table_of("\xEF\xBB\xBF\"close, last\";n\r\n\"1.5\";2\r\n\r\n+3;4");
  EXPECT_THAT(semicolons.columns(), ElementsAre("close, last", "n"));
  EXPECT_THAT(semicolons.numbers(0).or_throw(), ElementsAre(1.5, 3));
  const CsvTable quoted = table_of("\"a \"\"b\"\"\",c\n\"1\",\"two\nlines\"\n");
  EXPECT_THAT(quoted.columns(), ElementsAre("a \"b\"", "c"));
  EXPECT_THAT(quoted.texts(1), ElementsAre("two\nlines"));
}

TEST(Csv, AQuoteInsideACellIsAQuote) {
  const CsvTable table = table_of("close,note\n1,5\" x\n2,6\" y\n3,z\n");
  EXPECT_THAT(table.numbers(0).or_throw(), ElementsAre(1, 2, 3));
  EXPECT_THAT(table.texts(1), ElementsAre("5\" x", "6\" y", "z"));
}

TEST(Csv, WordsBeforeTheHeader) {
  const CsvTable table = table_of("# from somewhere, 2020\n#\nclose,n\n1,2\n");
  EXPECT_THAT(table.columns(), ElementsAre("close", "n"));
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_FALSE(CsvTable::parse("# nothing else", "prices.csv").ok());
}

TEST(Csv, GapsAreNaN) {
  const CsvTable table = table_of("close,x\n1,0\n,0\nNaN,0\nnull,0\n2,0\n");
  const auto close = table.numbers(0).or_throw();
  EXPECT_EQ(close.size(), 5U);
  EXPECT_TRUE(std::isnan(close[1]) && std::isnan(close[2]) && std::isnan(close[3]));
  EXPECT_EQ(close[4], 2);
}

TEST(Csv, MistakesNameTheirLine) {
  const auto why = [](const std::string& text, std::size_t column = 0) {
    const auto table = CsvTable::parse(text, "prices.csv");
    if (!table) return table.error().message();
    const auto numbers = table->numbers(column);
    return numbers ? std::string("none") : numbers.error().message();
  };
  EXPECT_THAT(why("close,n\n1,2\n3\n"), HasSubstr("prices.csv: line 3: it has 1 cells, the header 2"));
  EXPECT_THAT(why("close,n\n1,2\n3,4,5\n"), HasSubstr("line 3"));
  EXPECT_THAT(why("close\n1\n1.2.3\n"), HasSubstr("line 3: column close: '1.2.3' is not a number"));
  EXPECT_THAT(why("close\n12abc\n"), HasSubstr("line 2"));
  EXPECT_THAT(why("close\n\"1\n2\n"), HasSubstr("line 2: a quote is not closed"));
  EXPECT_THAT(why(std::string("close\n1\0", 8)), HasSubstr("line 2: a zero byte"));
  EXPECT_THAT(why("close,n\n\"1\" x,2\n"), HasSubstr("line 2: there is text after a closing quote"));
  EXPECT_THAT(why(""), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace millrace
