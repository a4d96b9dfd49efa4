#include "src/io/table/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "src/base/text.h"
#include "src/io/file/reader.h"

namespace millrace {
namespace {

Error bad(const std::string& subject, std::size_t line, const std::string& what) {
  return {ErrorCode::bad_data, fmt::format("line {}: {}", line, what), subject, ""};
}

// A cell without its quotes, doubled quotes made single.
std::string unquoted(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() < 2 || cell.front() != '"') return std::string(cell);
  std::string out;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    out += cell[i];
    if (cell[i] == '"') ++i;
  }
  return out;
}

bool is_gap(const std::string& cell) {
  static const std::array<std::string, 7> kGaps = {"", "nan", "null", "none", "na", "n/a", "-"};
  const std::string lower = lower_ascii(cell);
  return std::find(kGaps.begin(), kGaps.end(), lower) != kGaps.end();
}

// The first of comma, semicolon and tab that the header has outside quotes.
char separator_of(std::string_view header) {
  for (const char separator : {',', ';', '\t'}) {
    bool quoted = false;
    for (const char c : header) {
      quoted = quoted != (c == '"');
      if (c == separator && !quoted) return separator;
    }
  }
  return ',';
}

}  // namespace

Outcome<CsvTable> CsvTable::parse(std::string text, const std::string& subject) {
  CsvTable table;
  table.subject_ = subject;
  table.text_ = std::move(text);
  const std::string& t = table.text_;
  if (const std::size_t zero = t.find('\0'); zero != std::string::npos) {
    const auto line_of_zero = 1 + std::count(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    return bad(subject, static_cast<std::size_t>(line_of_zero), "a zero byte: this is no text");
  }
  std::size_t at = t.starts_with("\xEF\xBB\xBF") ? 3 : 0, line = 1;
  for (; at < t.size() && t[at] == '#'; ++line) at = std::min(t.find('\n', at), t.size() - 1) + 1;
  const std::string_view header(t.data() + at, std::min(t.find('\n', at), t.size()) - at);
  const char separator = separator_of(header);
  std::vector<Cell> row;
  while (at < t.size()) {
    const std::size_t begun = line;
    row.clear();
    for (bool more = true; more;) {
      const std::size_t begin = at;
      // Only a cell that begins with a quote is quoted; in it a doubled quote is one, and a line may end.
      if (at < t.size() && t[at] == '"') {
        for (++at; at < t.size() && (t[at] != '"' || (at + 1 < t.size() && t[at + 1] == '"')); ++at) {
          if (t[at] == '\n') ++line;
          if (t[at] == '"') ++at;
        }
        if (at == t.size()) return bad(subject, begun, "a quote is not closed");
        ++at;
        const std::size_t closed = at;
        while (at < t.size() && t[at] != separator && t[at] != '\n') ++at;
        if (!trim(std::string_view(t).substr(closed, at - closed)).empty()) {
          return bad(subject, begun, "there is text after a closing quote");
        }
      }
      while (at < t.size() && t[at] != separator && t[at] != '\n') ++at;
      std::size_t end = at;
      if (end > begin && t[end - 1] == '\r' && (at == t.size() || t[at] == '\n')) --end;
      row.push_back({begin, end});
      more = at < t.size() && t[at] == separator;
      ++at;
    }
    ++line;
    if (row.size() == 1 && trim(std::string_view(t).substr(row[0].begin, row[0].end - row[0].begin)).empty()) continue;
    if (table.columns_.empty()) {
      for (const Cell& cell : row) {
        table.columns_.push_back(unquoted(std::string_view(t).substr(cell.begin, cell.end - cell.begin)));
      }
      continue;
    }
    if (row.size() != table.columns_.size()) {
      return bad(subject, begun, fmt::format("it has {} cells, the header {}", row.size(), table.columns_.size()));
    }
    table.cells_.insert(table.cells_.end(), row.begin(), row.end());
    table.lines_.push_back(begun);
  }
  if (table.columns_.empty()) return Error{ErrorCode::bad_data, "it is empty", subject, "a header is needed"};
  return table;
}

Outcome<CsvTable> CsvTable::read(const std::string& path) {
  auto reader = FileReader::open(path, FileReader::Hashing::off);
  if (!reader) return reader.error();
  std::string text;
  for (auto bytes = (*reader)->next(); !bytes.empty(); bytes = (*reader)->next()) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if ((*reader)->failed()) return (*reader)->error();
  return parse(std::move(text), path);
}

std::optional<std::size_t> CsvTable::find(std::string_view name) const {
  const std::string wanted = lower_ascii(trim(name));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (lower_ascii(columns_[c]) == wanted) return c;
  }
  return std::nullopt;
}

std::string CsvTable::cell(std::size_t row, std::size_t column) const {
  const Cell& c = cells_[row * columns_.size() + column];
  return unquoted(std::string_view(text_).substr(c.begin, c.end - c.begin));
}

Outcome<std::vector<double>> CsvTable::numbers(std::size_t column) const {
  std::vector<double> out;
  out.reserve(rows());
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::string text = cell(r, column);
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!is_gap(text)) {
      const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
      const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) {
        return bad(subject_, lines_[r],
                   fmt::format("column {}: '{}' is not a number", printable(columns_[column]), printable(text)));
      }
    }
    out.push_back(value);
  }
  return out;
}

std::vector<std::string> CsvTable::texts(std::size_t column) const {
  std::vector<std::string> out;
  out.reserve(rows());
  for (std::size_t r = 0; r < rows(); ++r) out.push_back(cell(r, column));
  return out;
}

}  // namespace millrace
