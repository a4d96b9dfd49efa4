// Input: what a block of src/report/plot draws, and the numbers that it drew.
// Output: a figure as data: a picture that stands alone, words, a table of the same numbers.
// Never: HTML; that is src/report/page.
#pragma once

#include <string>
#include <vector>

namespace millrace::report {

// Cells are texts; what a column holds decides how they stand.
struct Column {
  std::string title;
  bool number = false;  // to the right, sorted by value
};
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns; fewer leave the last ones empty
  std::string note;                            // below it; may be empty
};

// A table beside a plot shows at most so many rows.
inline constexpr std::size_t kMostNumberRows = 400;

struct Figure {
  std::string title;    // one line
  std::string caption;  // what is to be seen, in which units; may be empty
  std::string svg;      // a whole document: namespace, colours, fonts and a white ground of its own
  int width = 0;        // of that picture, in CSS pixels at its natural size
  Table numbers;
};

}  // namespace millrace::report
