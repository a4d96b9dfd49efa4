// Input: text in rows and columns (RFC 4180), in blocks of any size.
// Output: the rows, one after the other, as cells without their quotes.
// Never: holds more than a row and a block, takes other text for a number, or guesses at missing cells of a row.
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

// Reads rows with commas, or with semicolons or tabs if the first row has no comma. A byte order mark, blank lines, and
// lines before the first row that begin with # are skipped. Every row must have as many cells as the first.
class CsvReader {
 public:
  // Longest row in bytes. A longer one is refused: a quote that is never closed would make the whole file one cell.
  static constexpr std::size_t kMaxRowBytes = 16 << 20;

  // Returns the next bytes; empty at the end. They need not outlive the next call.
  using Source = std::function<std::span<const std::uint8_t>()>;
  CsvReader(Source source, std::string subject) : source_(std::move(source)), subject_(std::move(subject)) {}

  // Reads the next row, whose cells live until the next call; false at the end. Failure(bad_data) names the line.
  bool next();
  std::span<const std::string_view> cells() const { return cells_; }
  // Line on which the row begins, counted from 1.
  std::size_t line() const { return row_line_; }
  // Returns a failure about the current row, for a caller that finds something wrong with it.
  [[nodiscard]] Failure make_row_error(const std::string& what, const std::string& remedy = {}) const;

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
  std::string text_;            // bytes that were read and not yet consumed
  std::size_t at_ = 0;          // offset of the next row in it
  std::size_t line_ = 1;        // line of the next row
  std::size_t row_line_ = 0;    // line of this row
  std::size_t lines_ = 0;       // number of lines of the row
  std::size_t scanned_to_ = 0;  // offset at which the next row begins
  bool begun_ = false, ended_ = false;
  char separator_ = 0;  // 0: not known before the first row
  std::size_t columns_ = 0;
  std::vector<Cell> row_;
  std::vector<std::string_view> cells_;
};

// Returns the number in a cell. NaN if it is empty or is nan, null, none, na, n/a, - or ., in upper or lower case.
// nullopt if it is no number.
std::optional<double> parse_csv_number(std::string_view cell);

}  // namespace millrace
