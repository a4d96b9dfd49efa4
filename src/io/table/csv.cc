#include "src/io/table/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_gap(std::string_view cell) {
  static constexpr std::array<std::string_view, 7> kGaps = {"nan", "null", "none", "na", "n/a", "-", "."};
  if (cell.empty()) return true;
  if (cell.size() > 4) return false;
  const std::string lower = lower_ascii(cell);
  return std::find(kGaps.begin(), kGaps.end(), lower) != kGaps.end();
}

// Returns the separator of a line: comma, else semicolon, else tab, whichever occurs outside quotes.
char separator_of(std::string_view line) {
  for (const char separator : {',', ';', '\t'}) {
    bool quoted = false;
    for (const char c : line) {
      quoted = quoted != (c == '"');
      if (c == separator && !quoted) return separator;
    }
  }
  return ',';
}

}  // namespace

Failure CsvReader::bad(std::size_t line, const std::string& what, const std::string& remedy) const {
  return {ErrorCode::bad_data, fmt::format("line {}: {}", line, what), subject_, remedy};
}

Failure CsvReader::make_row_error(const std::string& what, const std::string& remedy) const {
  return bad(row_line_, what, remedy);
}

// Reads more bytes, at least as many as there are already, so that a long row is not scanned too often. False at the
// end.
bool CsvReader::more() {
  text_.erase(0, at_);
  at_ = 0;
  const std::size_t before = text_.size();
  if (before > kMaxRowBytes) {
    throw bad(line_, fmt::format("the row is longer than {} MiB", kMaxRowBytes >> 20),
              "a quote in it may not be closed");
  }
  while (!ended_ && text_.size() < 2 * before + 1) {
    const auto bytes = source_();
    ended_ = bytes.empty();
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if (const std::size_t zero = text_.find('\0', before); zero != std::string::npos) {
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    throw bad(line_ + static_cast<std::size_t>(lines), "a zero byte was found, so this is not a text file");
  }
  return text_.size() > before;
}

// Skips the byte order mark and lines that begin with #. False if nothing follows.
bool CsvReader::skip_words() {
  while (text_.size() < kByteOrderMark.size() && more()) {
  }
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  while (true) {
    if (at_ == text_.size() && !more()) return false;
    if (text_[at_] != '#') return true;
    std::size_t end = 0;
    while ((end = text_.find('\n', at_)) == std::string::npos) {
      if (!more()) return false;
    }
    at_ = end + 1;
    ++line_;
  }
}

// Finds the cells of the row at at_. False if the text ends before the row does, and more may follow.
bool CsvReader::scan() {
  const std::string_view t = text_;
  std::size_t at = at_;
  row_.clear();
  lines_ = 1;
  for (bool next_cell = true; next_cell;) {
    const std::size_t begin = at;
    // Only a cell that begins with a quote is quoted. In it a doubled quote means one quote, and a line may end.
    if (at < t.size() && t[at] == '"') {
      for (++at; at < t.size(); ++at) {
        if (t[at] == '\n') ++lines_;
        if (t[at] != '"') continue;
        if (at + 1 == t.size() && !ended_) return false;
        if (at + 1 == t.size() || t[at + 1] != '"') break;
        ++at;
      }
      if (at == t.size()) {
        if (!ended_) return false;
        throw bad(line_, "a quote is not closed");
      }
      const std::size_t closed = ++at;
      while (at < t.size() && t[at] != separator_ && t[at] != '\n') ++at;
      if (!trim(t.substr(closed, at - closed)).empty()) throw bad(line_, "there is text after a closing quote");
    }
    while (at < t.size() && t[at] != separator_ && t[at] != '\n') ++at;
    if (at == t.size() && !ended_) return false;
    std::size_t end = at;
    if (end > begin && t[end - 1] == '\r' && (at == t.size() || t[at] == '\n')) --end;
    row_.push_back({begin, end});
    next_cell = at < t.size() && t[at] == separator_;
    ++at;
  }
  scanned_to_ = std::min(at, t.size());
  return true;
}

// Returns a cell without its quotes; doubled quotes become single ones in place.
std::string_view CsvReader::unquoted(Cell cell) {
  const std::string_view whole = trim(std::string_view(text_).substr(cell.begin, cell.end - cell.begin));
  if (whole.size() < 2 || whole.front() != '"' || whole.back() != '"') return whole;
  const std::string_view inner = whole.substr(1, whole.size() - 2);
  if (inner.find('"') == std::string_view::npos) return inner;
  char* const begin = text_.data() + (inner.data() - text_.data());
  char* to = begin;
  for (const char* from = begin; from < begin + inner.size(); ++from) {
    *to++ = *from;
    if (*from == '"') ++from;
  }
  return {begin, static_cast<std::size_t>(to - begin)};
}

bool CsvReader::next() {
  cells_.clear();
  if (!begun_) {
    begun_ = true;
    if (!skip_words()) return false;
  }
  while (true) {
    if (at_ == text_.size() && !more()) return false;
    if (separator_ == 0) {
      std::size_t end = 0;
      while ((end = text_.find('\n', at_)) == std::string::npos && more()) {
      }
      separator_ = separator_of(std::string_view(text_).substr(at_, end == std::string::npos ? end : end - at_));
    }
    while (!scan()) more();
    row_line_ = line_;
    line_ += lines_;
    const bool blank =
        row_.size() == 1 && trim(std::string_view(text_).substr(row_[0].begin, row_[0].end - row_[0].begin)).empty();
    at_ = scanned_to_;
    if (!blank) break;
    if (columns_ == 0) separator_ = 0;
  }
  if (columns_ == 0) columns_ = row_.size();
  if (row_.size() != columns_) {
    throw bad(row_line_, fmt::format("expected {} cells as in the header, found {}", columns_, row_.size()));
  }
  for (const Cell& cell : row_) cells_.push_back(unquoted(cell));
  return true;
}

std::optional<double> parse_csv_number(std::string_view cell) {
  if (is_gap(cell)) return std::numeric_limits<double>::quiet_NaN();
  if (cell.front() == '+') {
    cell.remove_prefix(1);
    if (cell.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

}  // namespace millrace
