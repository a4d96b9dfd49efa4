#include "src/jobs/render/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "src/base/text.h"
#include "src/io/file/reader.h"
#include "src/io/table/csv.h"

namespace millrace::render {
namespace {

constexpr std::array<const char*, 5> kNames = {"open", "high", "low", "close", "volume"};

template <typename T>
void read_as(const std::byte* at, std::size_t step, std::span<double> out) {
  for (double& v : out) {
    T value;
    std::memcpy(&value, at, sizeof value);
    v = static_cast<double>(value);
    at += step;
  }
}

bool readable(npy::Type type) {
  return (type.kind == 'f' && (type.bytes == 4 || type.bytes == 8)) || type.kind == 'i' || type.kind == 'u';
}

void read_csv(const std::string& path, const Options& options, Source& out) {
  const CsvTable table = CsvTable::read(path).or_throw();
  const auto named = [&](const char* role, std::initializer_list<const char*> names) -> std::optional<std::size_t> {
    if (const auto chosen = options.columns.find(role); chosen != options.columns.end()) {
      if (const auto at = table.find(chosen->second)) return at;
      throw Failure(ErrorCode::usage,
                    fmt::format("it has no column '{}'; its columns are: {}", chosen->second,
                                printable(fmt::format("{}", fmt::join(table.columns(), ", ")))),
                    path, "name one of them with --columns");
    }
    for (const char* name : names) {
      if (const auto at = table.find(name)) return at;
    }
    return std::nullopt;
  };
  const std::vector<Role> roles = roles_of(options);
  for (const Role role : roles) {
    std::optional<std::size_t> at = named(kNames[role], {kNames[role]});
    if (!at && roles.size() == 1 && table.columns().size() == 1) at = 0;
    if (!at) {
      throw Failure(ErrorCode::bad_data,
                    fmt::format("it has no column '{}'; its columns are: {}", kNames[role],
                                printable(fmt::format("{}", fmt::join(table.columns(), ", ")))),
                    path,
                    role == kVolume ? "name it with --columns volume=NAME, or draw without: --no-volume"
                                    : fmt::format("name it with --columns {}=NAME", kNames[role]));
    }
    out.owned.push_back(table.numbers(*at).or_throw());
    out.columns[role] = Column(reinterpret_cast<const std::byte*>(out.owned.back().data()), {'f', 8}, sizeof(double));
  }
  out.rows = table.rows();
  if (const auto date = named("date", {"date", "time", "datetime", "timestamp"})) out.dates = table.texts(*date);
}

void read_npy(const std::string& path, const Options& options, Source& out) {
  out.mapped = std::make_shared<npy::Mapped>(npy::Mapped::open(path).or_throw());
  const npy::Header& header = out.mapped->header();
  const auto refuse = [&]() -> Failure {
    return {ErrorCode::bad_data, fmt::format("it holds {}", header.words()), path,
            "a series is [T], [T, 4] (open, high, low, close) or [T, 5] (with volume); ready windows are [N, n] or "
            "[N, n, 4]; numbers of any width"};
  };
  if (!header.plain() || !readable(header.fields[0].type) || header.shape.empty() || header.shape.size() > 3) {
    throw refuse();
  }
  const std::uint64_t last = header.shape.back();
  std::uint64_t columns = 1;
  if (header.shape.size() == 2 && (last == 4 || last == 5)) {
    columns = last;
  } else if (header.shape.size() == 2) {
    out.ready = last;
  } else if (header.shape.size() == 3) {
    if (last != 4) throw refuse();
    columns = last;
    out.ready = header.shape[1];
  }
  if (header.shape.size() > 1 && out.ready == 0 && columns == 1) throw refuse();
  out.rows = header.items() / columns;
  const npy::Type type = header.fields[0].type;
  const auto width = static_cast<std::size_t>(type.bytes);
  for (const Role role : roles_of(options)) {
    if (columns == 1 && role != kClose) {
      throw Failure(ErrorCode::bad_data, fmt::format("it holds {}, and no {}", header.words(), kNames[role]), path,
                    fmt::format("--style {} needs open, high, low and close; --style line does not", options.style));
    }
    if (role >= columns && columns > 1) {
      throw Failure(ErrorCode::bad_data, fmt::format("it holds {}, and no volume", header.words()), path,
                    "draw without: --no-volume");
    }
    const std::size_t at = columns == 1 ? 0 : static_cast<std::size_t>(role);
    out.columns[role] = Column(out.mapped->data().data() + at * width, type, columns * width);
  }
}

// Rows from new to old would be drawn backwards, with labels of the past. Only dates that sort as text can tell.
void check_order(const Source& source) {
  const std::vector<std::string>& dates = source.dates;
  const bool sorts = std::all_of(dates.begin(), dates.end(), [](const std::string& date) {
    return date.size() >= 10 && date[4] == '-' && date[7] == '-';
  });
  if (dates.size() < 2 || !sorts || !std::is_sorted(dates.begin(), dates.end(), std::greater<>())) return;
  if (dates.front() == dates.back()) return;
  throw Failure(ErrorCode::bad_data, "its rows go from new to old", source.name,
                "sort them by date: else charts run backwards and labels tell the past");
}

void look_over(const Options& options, Source& out) {
  std::vector<double> values;
  std::vector<std::uint8_t> missing;
  bool any = false;
  for (std::size_t at = 0; at < out.rows; at += values.size()) {
    values.resize(std::min<std::size_t>(out.rows - at, 1 << 16));
    missing.assign(values.size(), 0);
    for (const Role role : roles_of(options)) {
      if (role == kVolume) continue;
      out.columns[role].read(at, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double v = values[i];
        if (std::isnan(v)) {
          missing[i] = 1;
          continue;
        }
        out.lowest = any ? std::min(out.lowest, v) : v;
        out.highest = any ? std::max(out.highest, v) : v;
        any = true;
      }
    }
    out.gaps += static_cast<std::uint64_t>(std::count(missing.begin(), missing.end(), 1));
  }
}

}  // namespace

std::vector<Role> roles_of(const Options& options) {
  std::vector<Role> out = {kClose};
  if (options.style != "line") out = {kOpen, kHigh, kLow, kClose};
  if (options.draws_volume()) out.push_back(kVolume);
  return out;
}

void Column::read(std::size_t begin, std::span<double> out) const {
  const std::byte* at = first_ + begin * step_;
  switch (type_.kind) {
    case 'f':
      type_.bytes == 4 ? read_as<float>(at, step_, out) : read_as<double>(at, step_, out);
      break;
    case 'i':
      type_.bytes == 1   ? read_as<std::int8_t>(at, step_, out)
      : type_.bytes == 2 ? read_as<std::int16_t>(at, step_, out)
      : type_.bytes == 4 ? read_as<std::int32_t>(at, step_, out)
                         : read_as<std::int64_t>(at, step_, out);
      break;
    default:
      type_.bytes == 1   ? read_as<std::uint8_t>(at, step_, out)
      : type_.bytes == 2 ? read_as<std::uint16_t>(at, step_, out)
      : type_.bytes == 4 ? read_as<std::uint32_t>(at, step_, out)
                         : read_as<std::uint64_t>(at, step_, out);
  }
  for (double& v : out) {
    if (!std::isfinite(v)) v = std::numeric_limits<double>::quiet_NaN();
  }
}

std::size_t Source::length(const Options& options) const {
  return ready > 0 ? ready : static_cast<std::size_t>(options.window);
}

std::size_t Source::windows(const Options& options) const {
  if (ready > 0) return rows / ready;
  const std::size_t length = static_cast<std::size_t>(options.window);
  return rows < length ? 0 : (rows - length) / static_cast<std::size_t>(options.stride) + 1;
}

std::size_t Source::row_of(const Options& options, std::size_t window) const {
  return window * (ready > 0 ? ready : static_cast<std::size_t>(options.stride));
}

void Source::throw_if_changed() const {
  const auto now = FileReader::open(name, FileReader::Hashing::off);
  if (now && (*now)->size() == bytes && (*now)->mtime_ns() == mtime_ns) return;
  throw Failure(ErrorCode::conflict, "it changed while it was read", name, "run the same command again");
}

Source open_source(const std::string& path, const Options& options) {
  Source out;
  out.name = path;
  auto reader = std::move(FileReader::open(path)).or_throw();
  out.bytes = reader->size();
  out.mtime_ns = reader->mtime_ns();
  out.content = hex_of_bytes(reader->finish_hash().or_throw());
  if (extension(path) == "npy") {
    read_npy(path, options, out);
  } else {
    read_csv(path, options, out);
  }
  check_order(out);
  look_over(options, out);
  out.throw_if_changed();
  return out;
}

}  // namespace millrace::render
