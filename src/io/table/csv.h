// Enters: text in rows and columns (RFC 4180), with a header.
// Leaves: its columns: as numbers, NaN where a cell is empty; or as text.
// Never: takes a cell for a number that is none, or guesses at a row that has too few cells.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"

namespace millrace {

class CsvTable {
 public:
  // Separated by commas, or by semicolons or tabs where the header has no comma. A byte order mark is left out, blank
  // lines are skipped, and so are lines before the header that begin with #. The error names the line.
  static Outcome<CsvTable> parse(std::string text, const std::string& subject);
  static Outcome<CsvTable> read(const std::string& path);

  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t rows() const { return lines_.size(); }
  // The column of this name, whatever its case.
  std::optional<std::size_t> find(std::string_view name) const;

  // A cell that is empty or says nan, null, none, na, n/a or - is NaN; one that is no number is an error that names its
  // line.
  Outcome<std::vector<double>> numbers(std::size_t column) const;
  std::vector<std::string> texts(std::size_t column) const;

 private:
  struct Cell {
    std::size_t begin, end;
  };
  std::string cell(std::size_t row, std::size_t column) const;

  std::string subject_, text_;
  std::vector<std::string> columns_;
  std::vector<Cell> cells_;         // row after row
  std::vector<std::size_t> lines_;  // of each row, from 1
};

}  // namespace millrace
