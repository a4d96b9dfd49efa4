#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "src/base/text.h"
#include "src/io/table/csv.h"
#include "src/jobs/render/series/source_kinds.h"
#include "src/jobs/render/series/table_rows.h"

namespace millrace::render {
namespace {

// Maximum bytes of a date or a symbol: none that a person reads is longer. Every row of an index has room for the
// longest.
constexpr std::size_t kLongestText = 64;
constexpr const char* kPurpose = "inputs";
// Value of --columns date=: the rows are already in order, whatever the columns say.
constexpr const char* kNoDates = "none";
constexpr const char* kNameless = "its first line holds numbers: write the names of the columns above them";

// Returns a cell's text for a message: a cell may be megabytes long.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return printable(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

// The first row of a table.
class TableHeader {
 public:
  TableHeader(std::span<const std::string_view> cells, std::string path)
      : names_(cells.begin(), cells.end()), path_(std::move(path)) {}

  std::size_t size() const { return names_.size(); }
  bool all_numbers() const {
    return std::all_of(names_.begin(), names_.end(),
                       [](const std::string& name) { return csv_number(name).has_value(); });
  }
  // Returns true if the row names nothing: it is the first row of numbers and dates.
  bool all_data() const {
    return std::all_of(names_.begin(), names_.end(), [](const std::string& name) {
      const auto text = [&](std::size_t) -> std::string_view { return name; };
      return !name.empty() &&
             (csv_number(name) || is_time_of_day(name) || !read_dates(1, text, DateOrder::unknown).possible.empty());
    });
  }
  std::size_t count(std::string_view wanted) const {
    return static_cast<std::size_t>(
        std::count_if(names_.begin(), names_.end(), [&](const std::string& name) { return plain(name) == wanted; }));
  }
  const std::string& name(std::size_t column) const { return names_[column]; }
  std::string words() const {
    constexpr std::size_t kMost = 20;
    std::string out;
    for (std::size_t c = 0; c < std::min(kMost, size()); ++c) out += (c > 0 ? ", " : "") + shown(names_[c]);
    return out + (size() > kMost ? fmt::format(" and {} more", size() - kMost) : "");
  }

  // Normalizes a column's name: MetaTrader's <DATE> is a date, and "open_time" is "Open time".
  static std::string plain(const std::string& name) {
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
      if (plain(names_[c]) == lower || lower_ascii(names_[c]) == lower) any.push_back(c);
    }
    if (any.empty()) return std::nullopt;
    if (any.size() == 1) return any[0];
    if (exact && same.size() == 1) return same[0];
    throw Failure(ErrorCode::bad_data,
                  fmt::format("columns {} and {} are both named '{}'", any[0] + 1, any[1] + 1, shown(names_[any[0]])),
                  path_, "give one of them another name");
  }

 private:
  const std::vector<std::string> names_;
  const std::string path_;
};

// Columns that are read.
struct Chosen {
  std::vector<std::size_t> roles;         // a column for each of roles_of()
  std::optional<std::size_t> date, time;  // time: time of day, beside a date
  std::optional<std::size_t> by;          // names the series
  std::optional<std::size_t> symbol;      // seems to name the series, though the user did not say so
  bool nameless = false;                  // the first row is data
};

class Chooser {
 public:
  Chooser(const TableHeader& header, const Options& options, const std::string& path)
      : header_(header), options_(options), path_(path) {}

  Chosen choose() const {
    Chosen out;
    // A table without a header would lose its first prices, which would be taken for names.
    if (header_.size() > 1 && header_.all_data()) {
      throw Failure(ErrorCode::bad_data,
                    fmt::format("it has no column '{}'; its columns are: {}", name_of(kClose), header_.words()), path_,
                    kNameless);
    }
    const std::vector<Role> roles = roles_of(options_.spec());
    for (const Role role : roles) {
      std::optional<std::size_t> at = named(name_of(role), {name_of(role)});
      if (!at && roles.size() == 1 && header_.size() == 1) {
        at = 0;
        // A number is no name: the column has no header.
        out.nameless = header_.all_numbers();
      }
      if (!at) refuse(role);
      out.roles.push_back(*at);
    }
    find_dates(out);
    if (options_.by.empty() || options_.by == kOneSeries) {
      if (options_.by.empty())
        out.symbol = named("symbol", {"symbol", "ticker", "sym", "permno", "instrument", "name"}, true);
      if (options_.by == kOneSeries) out.by = header_.find(kOneSeries, true);
    } else {
      out.by = header_.find(options_.by, true);
      if (!out.by) refuse_name(options_.by, "name one of them with --by");
    }
    return out;
  }

 private:
  void find_dates(Chosen& out) const {
    const auto given = options_.columns.find("date");
    if (given != options_.columns.end() && given->second == kNoDates && !header_.find(kNoDates, true)) return;
    // Names that exchanges, brokers and libraries use. `dtyyyymmdd` is Metastock's; the last ones are Polygon's and
    // CRSP's.
    out.date = named("date", {"datetime", "date time", "date/time", "date", "timestamp", "open time", "gmt time",
                              "local time", "observation date", "time key", "dtyyyymmdd", "trade date", "trading date",
                              "window start", "caldt", "datadate", "dlycaldt"});
    out.time = named("time", {"time"}, true);
    if (!out.date) out.date = std::exchange(out.time, std::nullopt);
    // pandas writes an index that has no name as a column without a header.
    if (!out.date && header_.size() > 1 && header_.name(0).empty()) out.date = 0;
  }
  // `guessed`: the user did not ask for this column, so two columns of the same name count as none.
  std::optional<std::size_t> named(const char* role, std::initializer_list<const char*> names,
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
  [[noreturn]] void refuse(Role role) const {
    std::string remedy = fmt::format("name it with --columns {}=NAME", name_of(role));
    if (role == kVolume) remedy = "name it with --columns volume=NAME, or draw without: --no-volume";
    if (header_.all_numbers()) remedy = kNameless;
    throw Failure(ErrorCode::bad_data,
                  fmt::format("it has no column '{}'; its columns are: {}", name_of(role), header_.words()), path_,
                  remedy);
  }

  const TableHeader& header_;
  const Options& options_;
  const std::string& path_;
};

// Memory that grows while a file is read; it is reserved before it is used.
class GrowingMemory {
 public:
  GrowingMemory(const FileReader& file, Budget& budget) : file_(file), budget_(budget) {}

  void hold(Bytes held) {
    constexpr Bytes kStep = 4_MiB;
    while (paid_ < held + kStep) {
      auto part = budget_.try_reserve(kStep);
      if (!part) refuse(held);
      parts_.push_back(std::move(*part));
      paid_ += kStep;
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
    const auto estimate = static_cast<std::uint64_t>(static_cast<double>(std::max(held, paid_).count) *
                                                     std::max(1.0, static_cast<double>(file_.size()) / read));
    const Bytes whole = Bytes{estimate} + 4_MiB;
    const Bytes others = budget_.used() - paid_;
    const Bytes free = others < budget_.limit() ? budget_.limit() - others : Bytes{};
    throw OutOfMemory(ErrorCode::out_of_memory,
                      fmt::format("its columns need about {} of memory, and {} of {} can be had", to_text(whole),
                                  to_text(free), to_text(budget_.limit())),
                      file_.path(), "allow more with --memory, or give it as .npy, which is not held in memory");
  }

  const FileReader& file_;
  Budget& budget_;
  std::vector<Reservation> parts_;
  Bytes paid_;
};

// Returns a reader of a file's rows.
CsvReader rows_of(FileReader& file, const OpenContext& context, const std::string& path) {
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
std::size_t line_of_row(const OpenContext& context, const std::string& path, std::size_t row, bool nameless) {
  auto file = FileReader::open(path, FileReader::Hashing::off).or_throw();
  CsvReader table = rows_of(*file, context, path);
  for (std::size_t i = 0; i <= row + (nameless ? 0 : 1); ++i) {
    if (!table.next()) break;
  }
  return table.line();
}

// Collects a table's cells by column, row after row.
class Collector {
 public:
  Collector(const TableHeader& header, const Chosen& chosen, TableRows& out)
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
      const std::optional<double> value = csv_number(cell);
      if (!value) {
        throw table.wrong(fmt::format("column {}: '{}' is not a number",
                                      chosen_.nameless ? "1" : shown(header_.name(chosen_.roles[c])), shown(cell)));
      }
      out_.numbers[c]->append(*value);
    }
    if (chosen_.date) add_date(table);
    if (chosen_.by) add_symbol(table);
    if (chosen_.symbol) look_at_symbol(table);
    ++out_.rows;
  }
  // Returns the memory of the symbols in the column of --by.
  Bytes memory() const { return {symbol_bytes_}; }

 private:
  // Returns a cell's text as UTF-8, as stores contain it. Refuses a text that is longer than a row of the index allows.
  std::string text(const CsvReader& table, std::size_t column, const char* what, const char* remedy) const {
    const std::string_view cell = table.cells()[column];
    if (cell.size() > kLongestText) {
      throw table.wrong(
          fmt::format("column {}: '{}' is too long for a {}", shown(header_.name(column)), shown(cell), what),
          fmt::format("a {} has at most {} bytes; name another column with {}", what, kLongestText, remedy));
    }
    return utf8_for_display(std::string(cell));
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
      throw table.wrong(fmt::format("column {} is empty", shown(header_.name(*chosen_.by))),
                        "every row needs the name of its series");
    }
    const auto [at, fresh] = places_.try_emplace(symbol, static_cast<std::uint32_t>(out_.symbols.size()));
    if (fresh) {
      out_.symbols.push_back(std::move(symbol));
      symbol_bytes_ += kSymbolBytes;
    }
    out_.series.append(at->second);
  }

  void look_at_symbol(const CsvReader& table) {
    const std::string_view cell = trim(table.cells()[*chosen_.symbol]);
    if (out_.rows == 0) {
      first_symbol_ = cell;
      if (cell.size() <= kLongestText) out_.symbols = {utf8_for_display(first_symbol_)};
    } else if (cell != first_symbol_) {
      const std::string& name = header_.name(*chosen_.symbol);
      throw table.wrong(fmt::format("column {} says '{}' after '{}': it holds several series", shown(name), shown(cell),
                                    shown(first_symbol_)),
                        fmt::format("use --by {} for windows of one series each, or --by none", shown(name)));
    }
  }

  // Memory of a symbol: its text, its entry in the map, and its series in the plan, with the file's names. 2,100 bytes
  // were measured.
  static constexpr std::uint64_t kSymbolBytes = 2400;

  const TableHeader& header_;
  const Chosen& chosen_;
  TableRows& out_;
  std::string first_symbol_;
  std::unordered_map<std::string, std::uint32_t> places_;
  std::uint64_t symbol_bytes_ = 0;
  bool with_time_ = false;
};

}  // namespace

std::vector<Source> read_csv(FileReader& reader, OpenContext& context, const Source& file) {
  CsvReader table = rows_of(reader, context, file.path);
  if (!table.next()) throw Failure(ErrorCode::bad_data, "it is empty", file.path, "a header is needed");
  const TableHeader header(table.cells(), file.path);
  const Chosen chosen = Chooser(header, context.options, file.path).choose();
  TableRows rows;
  rows.path = file.path;
  rows.line_of = [&](std::size_t row) { return line_of_row(context, file.path, row, chosen.nameless); };
  Collector collector(header, chosen, rows);
  GrowingMemory memory(reader, context.run.budget);
  for (bool row = chosen.nameless || table.next(); row; row = table.next()) {
    // Every row may have a new symbol.
    if (rows.rows % kPart == 0 || (rows.rows % 1024 == 0 && chosen.by)) memory.hold(rows.memory() + collector.memory());
    collector.add(table);
  }
  rows.complete();
  const Arranged arranged = arrange(rows, context.options, context.run);
  const auto paid = std::make_shared<Reservation>(memory.keep_only(rows.memory() + collector.memory()));
  const std::vector<Role> roles = roles_of(context.options.spec());
  std::vector<Source> out;
  out.reserve(arranged.series.size());
  for (const Series& series : arranged.series) {
    Source& source = out.emplace_back(file);
    source.rows = series.rows;
    source.symbol = series.symbol;
    source.sorted = arranged.sorted;
    source.repeats = out.size() == 1 ? arranged.repeats : 0;
    source.dates = Dates(rows.dates, series.begin, arranged.notation);
    source.paid = paid;
    for (std::size_t c = 0; c < roles.size(); ++c) source.columns[roles[c]] = Column(rows.numbers[c], series.begin);
  }
  return out;
}

}  // namespace millrace::render
