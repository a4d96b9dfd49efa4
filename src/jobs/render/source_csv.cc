#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/io/table/csv.h"
#include "src/jobs/render/source_kinds.h"

namespace millrace::render {
namespace {

// No date that a person reads is longer, and every row of an index has room for the longest.
constexpr std::size_t kLongestDate = 64;
constexpr const char* kPurpose = "inputs";

// For a message: a cell may be megabytes long.
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
  const std::string& name(std::size_t column) const { return names_[column]; }
  std::string words() const {
    constexpr std::size_t kMost = 20;
    std::string out;
    for (std::size_t c = 0; c < std::min(kMost, size()); ++c) out += (c > 0 ? ", " : "") + shown(names_[c]);
    return out + (size() > kMost ? fmt::format(" and {} more", size() - kMost) : "");
  }

  // The column of this name, whatever its case; where several have it in some case, the one that has it in `exact`ly
  // this.
  std::optional<std::size_t> find(std::string_view wanted, bool exact) const {
    const std::string lower = lower_ascii(trim(wanted));
    std::vector<std::size_t> same, any;
    for (std::size_t c = 0; c < size(); ++c) {
      if (names_[c] == trim(wanted)) same.push_back(c);
      if (lower_ascii(names_[c]) == lower) any.push_back(c);
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

// Which columns are read.
struct Chosen {
  std::vector<std::size_t> roles;  // for each of roles_of()
  std::optional<std::size_t> date;
  bool nameless = false;  // the first row is data
};

Chosen choose(const TableHeader& header, const Options& options, const std::string& path) {
  const auto named = [&](const char* role, std::initializer_list<const char*> names) -> std::optional<std::size_t> {
    if (const auto chosen = options.columns.find(role); chosen != options.columns.end()) {
      if (const auto at = header.find(chosen->second, true)) return at;
      throw Failure(ErrorCode::usage,
                    fmt::format("it has no column '{}'; its columns are: {}", chosen->second, header.words()), path,
                    "name one of them with --columns");
    }
    for (const char* name : names) {
      if (const auto at = header.find(name, false)) return at;
    }
    return std::nullopt;
  };
  Chosen out;
  const std::vector<Role> roles = roles_of(options);
  for (const Role role : roles) {
    std::optional<std::size_t> at = named(name_of(role), {name_of(role)});
    if (!at && roles.size() == 1 && header.size() == 1) {
      at = 0;
      // A number names nothing: the column has no header.
      out.nameless = header.all_numbers();
    }
    if (!at) {
      std::string remedy = fmt::format("name it with --columns {}=NAME", name_of(role));
      if (role == kVolume) remedy = "name it with --columns volume=NAME, or draw without: --no-volume";
      if (header.all_numbers()) remedy = "its first line holds numbers: write the names of the columns above them";
      throw Failure(ErrorCode::bad_data,
                    fmt::format("it has no column '{}'; its columns are: {}", name_of(role), header.words()), path,
                    remedy);
    }
    out.roles.push_back(*at);
  }
  out.date = named("date", {"date", "time", "datetime", "timestamp"});
  return out;
}

// Memory that grows while a file is read, paid for before it is used.
class GrowingMemory {
 public:
  GrowingMemory(const FileReader& file, Budget& budget) : file_(file), budget_(budget) {}

  void hold(Bytes held) {
    constexpr Bytes kStep = 4_MiB;
    while (paid_ < held + kStep) {
      auto part = budget_.try_reserve(kStep, kPurpose);
      if (!part) refuse(held);
      parts_.push_back(std::move(*part));
      paid_ += kStep;
    }
  }
  // What is held in the end, for as long as the job lives.
  Reservation settle(Bytes held) {
    parts_.clear();
    return budget_.reserve_permanent(held, kPurpose);
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

}  // namespace

void read_csv(FileReader& file, Opening& opening, Source& out) {
  CsvReader table(
      [&] {
        opening.throw_if_cancelled();
        const auto bytes = file.next();
        if (file.failed()) throw Failure(file.error());
        return bytes;
      },
      out.path);
  if (!table.next()) throw Failure(ErrorCode::bad_data, "it is empty", out.path, "a header is needed");
  const TableHeader header(table.cells(), out.path);
  const Chosen chosen = choose(header, opening.options, out.path);
  std::vector<std::shared_ptr<Numbers>> numbers(chosen.roles.size());
  for (auto& column : numbers) column = std::make_shared<Numbers>();
  GrowingMemory memory(file, opening.context.budget);
  const auto held = [&] {
    Bytes sum = out.dates.memory();
    for (const auto& column : numbers) sum += column->memory();
    return sum;
  };
  for (bool row = chosen.nameless || table.next(); row; row = table.next()) {
    if (out.rows % kPart == 0) memory.hold(held());
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      const std::string_view cell = table.cells()[chosen.roles[c]];
      const std::optional<double> value = csv_number(cell);
      if (!value) {
        throw table.wrong(fmt::format("column {}: '{}' is not a number",
                                      chosen.nameless ? "1" : shown(header.name(chosen.roles[c])), shown(cell)));
      }
      numbers[c]->append(*value);
    }
    if (chosen.date) {
      const std::string_view date = table.cells()[*chosen.date];
      if (date.size() > kLongestDate) {
        throw table.wrong(
            fmt::format("column {}: '{}' is too long for a date", shown(header.name(*chosen.date)), shown(date)),
            fmt::format("dates have at most {} bytes; name another column with --columns date=NAME", kLongestDate));
      }
      // What a store says is UTF-8.
      out.dates.append(utf8_for_display(std::string(date)));
    }
    ++out.rows;
  }
  const std::vector<Role> roles = roles_of(opening.options);
  for (std::size_t c = 0; c < roles.size(); ++c) out.columns[roles[c]] = Column(numbers[c]);
  out.paid = memory.settle(held());
}

}  // namespace millrace::render
