// Input: text in rows and columns (RFC 4180), piece by piece.
// Output: its rows, one after the other, as cells without their quotes.
// Never: holds more than a row and a piece, takes a cell for a number that is none, or guesses at a row that has too
// few cells.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"

namespace millrace {

// Separated by commas, or by semicolons or tabs where the first row has no comma. A byte order mark is left out, blank
// lines are skipped, and so are lines before the first row that begin with #. Every row has as many cells as the first.
class CsvReader {
 public:
  // A longer row is refused: a quote that is never closed would take the whole file for one cell.
  static constexpr std::size_t kLongestRow = 16 << 20;

  // The next bytes; none at the end. They need not outlive the next call.
  using Source = std::function<std::span<const std::uint8_t>()>;
  CsvReader(Source source, std::string subject) : source_(std::move(source)), subject_(std::move(subject)) {}

  // The next row, of which the cells live until the next call; false at the end. Failure(bad_data) names the line.
  bool next();
  std::span<const std::string_view> cells() const { return cells_; }
  // Where the row begins, from 1.
  std::size_t line() const { return row_line_; }
  // What is wrong with the row, for a caller that finds it out.
  [[nodiscard]] Failure wrong(const std::string& what, const std::string& remedy = {}) const;

 private:
  struct Cell {
    std::size_t begin, end;
  };
  bool more();
  bool skip_words();
  bool scan();
  std::string_view unquoted(Cell cell);
  [[nodiscard]] Failure bad(std::size_t line, const std::string& what, const std::string& remedy = {}) const;

  const Source source_;
  const std::string subject_;
  std::string text_;            // what was read and is not yet behind
  std::size_t at_ = 0;          // of the next row in it
  std::size_t line_ = 1;        // of the next row
  std::size_t row_line_ = 0;    // of this row
  std::size_t lines_ = 0;       // that the row takes
  std::size_t scanned_to_ = 0;  // where the next row begins
  bool begun_ = false, ended_ = false;
  char separator_ = 0;  // not known before the first row
  std::size_t columns_ = 0;
  std::vector<Cell> row_;
  std::vector<std::string_view> cells_;
};

// The number in a cell: NaN where it is empty or says nan, null, none, na, n/a, - or ., in any case. Nothing where it
// is no number.
std::optional<double> csv_number(std::string_view cell);

}  // namespace millrace
