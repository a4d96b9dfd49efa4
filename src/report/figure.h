// Input: the picture that a block of src/report/plot draws, and the numbers in it.
// Output: a figure as data: a self-contained picture, texts, and a table of the same numbers.
// Never: contains HTML, which src/report/page makes.
#pragma once

#include <string>
#include <vector>

namespace millrace::report {

// Column of a table whose cells are texts; `number` decides how they are aligned.
struct TableColumn {
  std::string title;
  bool number = false;  // aligned to the right, sorted by value
};
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns; fewer leave the last ones empty
  std::string note;                            // text below the table; may be empty
};

// Largest number of rows in a table beside a plot.
inline constexpr std::size_t kMaxNumberRows = 400;

struct Figure {
  std::string title;    // one line
  std::string caption;  // content of the picture and its units; may be empty
  std::string svg;      // a whole document with its own namespace, colours, fonts and white background
  int width = 0;        // width of the picture, in CSS pixels at its natural size
  Table numbers;
};

}  // namespace millrace::report
