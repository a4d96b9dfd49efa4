#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "src/base/text.h"
#include "src/io/table/csv.h"
#include "src/jobs/render/series/source_readers.h"
#include "src/jobs/render/series/table_rows.h"

namespace millrace::render {
namespace {

// Maximum bytes of a date or a symbol: none that a person reads is longer. Every row of an index has room for the
// longest.
constexpr std::size_t kMaxTextBytes = 64;
constexpr const char* kPurpose = "inputs";
// Value of --columns date=: the rows are already in order, whatever the columns say.
constexpr const char* kNoDates = "none";
constexpr const char* kNamelessRemedy =
    "its first line contains numbers; add a line with the names of the columns above it";

// Returns a cell's text for a message: a cell may be megabytes long.
std::string shorten_cell(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;
  return escape_unprintable(text.substr(0, kMaxShown)) + (text.size() > kMaxShown ? "..." : "");
}

// The first row of a table.
class TableHeader {
 public:
  TableHeader(std::span<const std::string_view> cells, std::string path)
      : names_(cells.begin(), cells.end()), path_(std::move(path)) {}

  std::size_t size() const { return names_.size(); }
  bool has_only_numbers() const {
    return std::all_of(names_.begin(), names_.end(),
                       [](const std::string& name) { return parse_csv_number(name).has_value(); });
  }
  // Returns true if the row names nothing: it is the first row of numbers and dates.
  bool has_only_data() const {
    return std::all_of(names_.begin(), names_.end(), [](const std::string& name) {
      const auto text = [&](std::size_t) -> std::string_view { return name; };
      return !name.empty() && (parse_csv_number(name) || is_time_of_day(name) ||
                               !read_dates(1, text, DateOrder::unknown).possible.empty());
    });
  }
  std::size_t count(std::string_view wanted) const {
    return static_cast<std::size_t>(std::count_if(
        names_.begin(), names_.end(), [&](const std::string& name) { return normalize_name(name) == wanted; }));
  }
  const std::string& name(std::size_t column) const { return names_[column]; }
  std::string words() const {
    constexpr std::size_t kMaxShown = 20;
    std::string out;
    for (std::size_t c = 0; c < std::min(kMaxShown, size()); ++c) out += (c > 0 ? ", " : "") + shorten_cell(names_[c]);
    return out + (size() > kMaxShown ? fmt::format(" and {} more", size() - kMaxShown) : "");
  }

  // Normalizes a column's name: MetaTrader's <DATE> is a date, and "open_time" is "Open time".
  static std::string normalize_name(const std::string& name) {
    std::string out = lower_ascii(trim(name));
    if (out.size() > 2 && out.front() == '<' && out.back() == '>') out = out.substr(1, out.size() - 2);
    std::replace(out.begin(), out.end(), '_', ' ');
    return out;
  }

  // Returns the column of this name, in upper or lower case. If several match, `exact` selects the one that is spelled
  // exactly like this.
  std::optional<std::size_t> find(std::string_view wanted, bool exact) const {
    const std::string lower = lower_ascii(trim(wanted));
    std::vector<std::size_t> same, any;
    for (std::size_t c = 0; c < size(); ++c) {
      if (names_[c] == trim(wanted)) same.push_back(c);
      if (normalize_name(names_[c]) == lower || lower_ascii(names_[c]) == lower) any.push_back(c);
    }
    if (any.empty()) return std::nullopt;
    if (any.size() == 1) return any[0];
    if (exact && same.size() == 1) return same[0];
    throw Failure(
        ErrorCode::bad_data,
        fmt::format("columns {} and {} are both named '{}'", any[0] + 1, any[1] + 1, shorten_cell(names_[any[0]])),
        path_, "rename one of them");
  }

 private:
  const std::vector<std::string> names_;
  const std::string path_;
};

// Columns that are read.
struct ChosenColumns {
  std::vector<std::size_t> roles;         // a column for each of price_columns_of()
  std::optional<std::size_t> date, time;  // time: time of day, beside a date
  std::optional<std::size_t> by;          // names the series
  std::optional<std::size_t> symbol;      // seems to name the series, though the user did not say so
  bool nameless = false;                  // the first row is data
};

class ColumnChooser {
 public:
  ColumnChooser(const TableHeader& header, const RenderOptions& options, const std::string& path)
      : header_(header), options_(options), path_(path) {}

  ChosenColumns choose() const {
    ChosenColumns out;
    // A table without a header would lose its first prices, which would be taken for names.
    if (header_.size() > 1 && header_.has_only_data()) {
      throw Failure(ErrorCode::bad_data,
                    fmt::format("it has no column '{}'; its columns are: {}", name_of(kClose), header_.words()), path_,
                    kNamelessRemedy);
    }
    const std::vector<PriceColumn> roles = price_columns_of(options_.spec());
    for (const PriceColumn role : roles) {
      std::optional<std::size_t> at = find_role(name_of(role), {name_of(role)});
      if (!at && roles.size() == 1 && header_.size() == 1) {
        at = 0;
        // A number is no name: the column has no header.
        out.nameless = header_.has_only_numbers();
      }
      if (!at) refuse(role);
      out.roles.push_back(*at);
    }
    find_dates(out);
    if (options_.by.empty() || options_.by == kOneSeries) {
      if (options_.by.empty())
        out.symbol = find_role("symbol", {"symbol", "ticker", "sym", "permno", "instrument", "name"}, true);
      if (options_.by == kOneSeries) out.by = header_.find(kOneSeries, true);
    } else {
      out.by = header_.find(options_.by, true);
      if (!out.by) refuse_name(options_.by, "name one of them with --by");
    }
    return out;
  }

 private:
  void find_dates(ChosenColumns& out) const {
    const auto given = options_.columns.find("date");
    if (given != options_.columns.end() && given->second == kNoDates && !header_.find(kNoDates, true)) return;
    // Names that exchanges, brokers and libraries use. `dtyyyymmdd` is Metastock's; the last ones are Polygon's and
    // CRSP's.
    out.date = find_role("date", {"datetime", "date time", "date/time", "date", "timestamp", "open time", "gmt time",
                                  "local time", "observation date", "time key", "dtyyyymmdd", "trade date",
                                  "trading date", "window start", "caldt", "datadate", "dlycaldt"});
    out.time = find_role("time", {"time"}, true);
    if (!out.date) out.date = std::exchange(out.time, std::nullopt);
    // pandas writes an index that has no name as a column without a header.
    if (!out.date && header_.size() > 1 && header_.name(0).empty()) out.date = 0;
  }
  // `guessed`: the user did not ask for this column, so two columns of the same name count as none.
  std::optional<std::size_t> find_role(const char* role, std::initializer_list<const char*> names,
                                       bool guessed = false) const {
    if (const auto chosen = options_.columns.find(role); chosen != options_.columns.end()) {
      if (const auto at = header_.find(chosen->second, true)) return at;
      refuse_name(chosen->second, "name one of them with --columns");
    }
    for (const char* name : names) {
      if (guessed && header_.count(name) > 1) continue;
      if (const auto at = header_.find(name, false)) return at;
    }
    return std::nullopt;
  }
  [[noreturn]] void refuse_name(const std::string& name, const char* remedy) const {
    throw Failure(ErrorCode::usage, fmt::format("it has no column '{}'; its columns are: {}", name, header_.words()),
                  path_, remedy);
  }
  [[noreturn]] void refuse(PriceColumn role) const {
    std::string remedy = fmt::format("name it with --columns {}=NAME", name_of(role));
    if (role == kVolume) remedy = "name it with --columns volume=NAME, or use --no-volume";
    if (header_.has_only_numbers()) remedy = kNamelessRemedy;
    throw Failure(ErrorCode::bad_data,
                  fmt::format("it has no column '{}'; its columns are: {}", name_of(role), header_.words()), path_,
                  remedy);
  }

  const TableHeader& header_;
  const RenderOptions& options_;
  const std::string& path_;
};

// Memory that grows while a file is read; it is reserved before it is used.
class GrowingMemory {
 public:
  GrowingMemory(const FileReader& file, Budget& budget) : file_(file), budget_(budget) {}

  void hold(Bytes held) {
    constexpr Bytes kStep = 4_MiB;
    while (reserved_ < held + kStep) {
      auto part = budget_.try_reserve(kStep);
      if (!part) refuse(held);
      parts_.push_back(std::move(*part));
      reserved_ += kStep;
    }
  }
  // Returns a reservation for what is held in the end, for as long as the job lives.
  Reservation keep_only(Bytes held) {
    parts_.clear();
    return budget_.reserve(held, kPurpose);
  }

 private:
  [[noreturn]] void refuse(Bytes held) const {
    const double read = static_cast<double>(std::max<std::uint64_t>(1, file_.bytes_read()));
    const auto estimate = static_cast<std::uint64_t>(static_cast<double>(std::max(held, reserved_).count) *
                                                     std::max(1.0, static_cast<double>(file_.size()) / read));
    const Bytes whole = Bytes{estimate} + 4_MiB;
    const Bytes others = budget_.used() - reserved_;
    const Bytes free = others < budget_.limit() ? budget_.limit() - others : Bytes{};
    throw OutOfMemory(ErrorCode::out_of_memory,
                      fmt::format("its columns need about {} of memory, but only {} of {} is available",
                                  format_bytes(whole), format_bytes(free), format_bytes(budget_.limit())),
                      file_.path(), "raise --memory, or convert it to .npy, which is not loaded into memory");
  }

  const FileReader& file_;
  Budget& budget_;
  std::vector<Reservation> parts_;
  Bytes reserved_;
};

// Returns a reader of a file's rows.
CsvReader make_row_reader(FileReader& file, const OpenContext& context, const std::string& path) {
  return CsvReader(
      [&file, &context] {
        context.throw_if_cancelled();
        const auto bytes = file.next();
        if (file.failed()) throw Failure(file.error());
        return bytes;
      },
      path);
}

// Returns the line on which a row begins, counted from 1. It reads the file again, for a message alone.
std::size_t find_line_of_row(const OpenContext& context, const std::string& path, std::size_t row, bool nameless) {
  auto file = FileReader::open(path, FileReader::Hashing::off).or_throw();
  CsvReader table = make_row_reader(*file, context, path);
  for (std::size_t i = 0; i <= row + (nameless ? 0 : 1); ++i) {
    if (!table.next()) break;
  }
  return table.line();
}

// Collects a table's cells by column, row after row.
class RowCollector {
 public:
  RowCollector(const TableHeader& header, const ChosenColumns& chosen, TableRows& out)
      : header_(header), chosen_(chosen), out_(out) {
    out.numbers.resize(chosen.roles.size());
    for (auto& column : out.numbers) column = std::make_shared<NumberColumn>();
    if (!chosen.date) return;
    out.dates = std::make_shared<TextColumn>();
    out.date_column = header.name(*chosen.date);
  }

  void add(const CsvReader& table) {
    for (std::size_t c = 0; c < out_.numbers.size(); ++c) {
      const std::string_view cell = table.cells()[chosen_.roles[c]];
      const std::optional<double> value = parse_csv_number(cell);
      if (!value) {
        throw table.make_row_error(fmt::format("column {}: '{}' is not a number",
                                               chosen_.nameless ? "1" : shorten_cell(header_.name(chosen_.roles[c])),
                                               shorten_cell(cell)));
      }
      out_.numbers[c]->append(*value);
    }
    if (chosen_.date) add_date(table);
    if (chosen_.by) add_symbol(table);
    if (chosen_.symbol) check_symbol(table);
    ++out_.rows;
  }
  // Returns the memory of the symbols in the column of --by.
  Bytes memory() const { return {symbol_bytes_}; }

 private:
  // Returns a cell's text as UTF-8, as stores contain it. Refuses a text that is longer than a row of the index allows.
  std::string text(const CsvReader& table, std::size_t column, const char* what, const char* remedy) const {
    const std::string_view cell = table.cells()[column];
    if (cell.size() > kMaxTextBytes) {
      throw table.make_row_error(
          fmt::format("column {}: '{}' is too long for a {}", shorten_cell(header_.name(column)), shorten_cell(cell),
                      what),
          fmt::format("the limit of a {} is {} bytes; name another column with {}", what, kMaxTextBytes, remedy));
    }
    return replace_invalid_utf8(std::string(cell));
  }

  void add_date(const CsvReader& table) {
    std::string date = text(table, *chosen_.date, "date", "--columns date=NAME");
    if (chosen_.time) {
      // A column of that name may hold something else, or the date may include the time already: the first row decides.
      const std::string time = text(table, *chosen_.time, "time", "--columns time=NAME");
      if (out_.rows == 0) with_time_ = is_time_of_day(time) && is_day(date);
      if (with_time_) date += " " + time;
    }
    out_.dates->append(date);
  }

  void add_symbol(const CsvReader& table) {
    std::string symbol(trim(text(table, *chosen_.by, "symbol", "--by NAME")));
    if (symbol.empty()) {
      throw table.make_row_error(fmt::format("column {} is empty", shorten_cell(header_.name(*chosen_.by))),
                                 "every row needs the name of its series");
    }
    const auto [at, fresh] = places_.try_emplace(symbol, static_cast<std::uint32_t>(out_.symbols.size()));
    if (fresh) {
      out_.symbols.push_back(std::move(symbol));
      symbol_bytes_ += kSymbolBytes;
    }
    out_.series.append(at->second);
  }

  void check_symbol(const CsvReader& table) {
    const std::string_view cell = trim(table.cells()[*chosen_.symbol]);
    if (out_.rows == 0) {
      first_symbol_ = cell;
      if (cell.size() <= kMaxTextBytes) out_.symbols = {replace_invalid_utf8(first_symbol_)};
    } else if (cell != first_symbol_) {
      const std::string& name = header_.name(*chosen_.symbol);
      throw table.make_row_error(
          fmt::format("column {} has '{}' after '{}': the table contains several series", shorten_cell(name),
                      shorten_cell(cell), shorten_cell(first_symbol_)),
          fmt::format("use --by {} to split it into series, or --by none to treat it as one", shorten_cell(name)));
    }
  }

  // Memory of a symbol: its text, its entry in the map, and its series in the plan, with the file's names. 2,100 bytes
  // were measured.
  static constexpr std::uint64_t kSymbolBytes = 2400;

  const TableHeader& header_;
  const ChosenColumns& chosen_;
  TableRows& out_;
  std::string first_symbol_;
  std::unordered_map<std::string, std::uint32_t> places_;
  std::uint64_t symbol_bytes_ = 0;
  bool with_time_ = false;
};

}  // namespace

std::vector<PriceSource> read_csv(FileReader& reader, OpenContext& context, const PriceSource& file) {
  CsvReader table = make_row_reader(reader, context, file.path);
  if (!table.next())
    throw Failure(ErrorCode::bad_data, "it is empty", file.path, "expected a line with the names of the columns");
  const TableHeader header(table.cells(), file.path);
  const ChosenColumns chosen = ColumnChooser(header, context.options, file.path).choose();
  TableRows rows;
  rows.path = file.path;
  rows.line_of = [&](std::size_t row) { return find_line_of_row(context, file.path, row, chosen.nameless); };
  RowCollector collector(header, chosen, rows);
  GrowingMemory memory(reader, context.run.budget);
  for (bool row = chosen.nameless || table.next(); row; row = table.next()) {
    // Every row may have a new symbol.
    if (rows.rows % kRowsPerChunk == 0 || (rows.rows % 1024 == 0 && chosen.by))
      memory.hold(rows.memory() + collector.memory());
    collector.add(table);
  }
  rows.finish_appending();
  const ArrangedSeries arranged = arrange_rows(rows, context.options, context.run);
  const auto reservation = std::make_shared<Reservation>(memory.keep_only(rows.memory() + collector.memory()));
  const std::vector<PriceColumn> roles = price_columns_of(context.options.spec());
  std::vector<PriceSource> out;
  out.reserve(arranged.series.size());
  for (const SeriesRows& series : arranged.series) {
    PriceSource& source = out.emplace_back(file);
    source.rows = series.rows;
    source.symbol = series.symbol;
    source.sorted = arranged.sorted;
    source.repeats = out.size() == 1 ? arranged.repeats : 0;
    source.dates = SeriesDates(rows.dates, series.begin, arranged.notation);
    source.reservation = reservation;
    for (std::size_t c = 0; c < roles.size(); ++c)
      source.columns[roles[c]] = SeriesColumn(rows.numbers[c], series.begin);
  }
  return out;
}

}  // namespace millrace::render
