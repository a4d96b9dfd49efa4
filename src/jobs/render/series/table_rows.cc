#include "src/jobs/render/series/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "src/base/text.h"

namespace millrace::render {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

// Two rows of one series; the second is not later than the first.
struct OutOfOrderRows {
  std::size_t before, row;
};
struct OrderProblems {
  std::optional<OutOfOrderRows> back, repeat;  // first step of each kind
};

class Arranger {
 public:
  Arranger(TableRows& table, const RenderOptions& options, RunContext& context)
      : table_(table), options_(options), context_(context) {}

  ArrangedSeries arrange_rows() {
    if (table_.dates) out_.notation = notation();
    if (!out_.notation && options_.sort == SortOrder::date) {
      throw Failure(ErrorCode::bad_data, "it has no readable dates, so it cannot be sorted", table_.path,
                    "name the date column with --columns date=NAME, or leave out --sort date");
    }
    if (!out_.notation &&
        (options_.duplicates == DuplicatePolicy::first || options_.duplicates == DuplicatePolicy::last)) {
      throw Failure(ErrorCode::bad_data, "it has no readable dates, so duplicates cannot be found", table_.path,
                    "name the date column with --columns date=NAME, or leave out --duplicates");
    }
    OrderProblems steps;
    if (out_.notation) steps = find_order_problems(*out_.notation);
    if (steps.back && options_.sort != SortOrder::date) refuse_back(*steps.back);
    out_.sorted = steps.back.has_value();
    if (steps.repeat && !out_.sorted && options_.duplicates == DuplicatePolicy::error) refuse_repeat(*steps.repeat);
    const bool thinned = (steps.repeat || out_.sorted) && options_.duplicates != DuplicatePolicy::keep;
    if (table_.symbols.size() > 1 || out_.sorted || thinned) reorder(thinned);
    if (out_.series.empty()) {
      out_.series.push_back({0, table_.rows, table_.symbols.empty() ? std::string() : table_.symbols.front()});
    }
    return std::move(out_);
  }

 private:
  std::size_t series(std::size_t row) const { return table_.series.size() == 0 ? 0 : table_.series[row]; }
  std::int64_t time(const DateNotation& notation, std::size_t row) const {
    return notation.parse(table_.dates->view(row)).value_or(kNone);
  }
  std::string date(std::size_t row) const { return escape_unprintable(table_.dates->view(row)); }
  std::size_t line(std::size_t row) const { return table_.line_of(row); }

  // Compares rows in the order of the file.
  OrderProblems find_order_problems(const DateNotation& notation) const {
    struct Last {
      std::int64_t time = kNone;
      std::size_t row = 0;
    };
    std::vector<Last> last(std::max<std::size_t>(1, table_.symbols.size()));
    OrderProblems out;
    for (std::size_t row = 0; row < table_.rows; ++row) {
      if (row % kRowsPerChunk == 0) context_.throw_if_cancelled();
      Last& before = last[series(row)];
      const std::int64_t now = time(notation, row);
      if (now < before.time && !out.back) out.back = OutOfOrderRows{before.row, row};
      if (now == before.time && !out.repeat) out.repeat = OutOfOrderRows{before.row, row};
      before = {now, row};
    }
    return out;
  }

  std::optional<DateNotation> notation() const {
    DateReading reading = read_dates(
        table_.rows,
        [&](std::size_t row) {
          if (row % kRowsPerChunk == 0) context_.throw_if_cancelled();
          return table_.dates->view(row);
        },
        options_.date_order);
    if (reading.unread) {
      throw Failure(ErrorCode::bad_data,
                    fmt::format("line {}: column {}: '{}' is not a date in the format of the others",
                                line(*reading.unread), escape_unprintable(table_.date_column), date(*reading.unread)),
                    table_.path, "correct that line, or name another column with --columns date=NAME");
    }
    std::vector<DateNotation>& possible = reading.possible;
    // With --sort date the user says that the order of the rows means nothing.
    if (possible.size() > 1 && options_.sort != SortOrder::date) {
      // If both day/month and month/day are possible, the one in which no row goes back in time is meant.
      const auto forward = [&](const DateNotation& notation) {
        return !find_order_problems(notation).back.has_value();
      };
      std::vector<DateNotation> likely;
      std::copy_if(possible.begin(), possible.end(), std::back_inserter(likely), forward);
      if (!likely.empty()) possible = std::move(likely);
    }
    if (possible.empty()) return std::nullopt;
    for (std::size_t row = 0; row < table_.rows && possible.size() > 1; ++row) {
      if (time(possible[0], row) == time(possible[1], row)) continue;
      throw Failure(
          ErrorCode::bad_data,
          fmt::format("line {}: column {}: '{}' can be {} or {}, and no other date decides which", line(row),
                      escape_unprintable(table_.date_column), date(row), possible[0].name(), possible[1].name()),
          table_.path, "choose with --date-order dmy, mdy or ymd");
    }
    return possible.front();
  }

  [[noreturn]] void refuse_back(const OutOfOrderRows& step) const {
    // Rows that are all in reverse are a common way to export prices, and get a plainer message.
    const bool newest_first = time(*out_.notation, 0) > time(*out_.notation, table_.rows - 1);
    throw Failure(
        ErrorCode::bad_data,
        fmt::format("line {}: {}: {} comes after {}", line(step.row),
                    newest_first ? "its rows go from new to old" : "its rows go back in time", date(step.row),
                    date(step.before)),
        table_.path,
        "use --sort date: in this order, labels would show the past; if a column names several series, use --by "
        "COLUMN; only if the order is right, use --columns date=none");
  }

  [[noreturn]] void refuse_repeat(const OutOfOrderRows& step) const {
    throw Failure(
        ErrorCode::bad_data,
        fmt::format("lines {} and {} have the same time, {}", line(step.before), line(step.row), date(step.row)),
        table_.path,
        "if a column names several series, use --by COLUMN; if another has the time, --columns date=NAME or time=NAME; "
        "if rows repeat, --duplicates first, last or keep");
  }

  // Orders rows by series, then by time if they have to be sorted, else as in the file. Leaves out repeats if
  // `thinned`.
  void reorder(bool thinned) {
    const Reservation reservation =
        context_.budget.reserve(Bytes{table_.rows * (sizeof(std::size_t) + sizeof(std::int64_t))}, "sorting rows");
    std::vector<std::int64_t> times(out_.notation ? table_.rows : 0);
    for (std::size_t row = 0; row < times.size(); ++row) times[row] = time(*out_.notation, row);
    const std::vector<std::size_t> ranks = ranks_of_symbols();
    std::vector<std::size_t> order(table_.rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    context_.throw_if_cancelled();
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const std::size_t one = ranks[series(a)], other = ranks[series(b)];
      if (one != other) return one < other;
      if (out_.sorted && times[a] != times[b]) return times[a] < times[b];
      return a < b;
    });
    context_.throw_if_cancelled();
    if (thinned) drop_repeats(order, times);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || series(order[i]) != series(order[i - 1])) {
        out_.series.push_back({i, 0, table_.symbols.empty() ? std::string() : table_.symbols[series(order[i])]});
      }
      ++out_.series.back().rows;
    }
    apply_order(order);
  }

  std::vector<std::size_t> ranks_of_symbols() const {
    std::vector<std::size_t> by_name(std::max<std::size_t>(1, table_.symbols.size())), ranks(by_name.size());
    std::iota(by_name.begin(), by_name.end(), std::size_t{0});
    if (!table_.symbols.empty()) {
      std::sort(by_name.begin(), by_name.end(),
                [&](std::size_t a, std::size_t b) { return table_.symbols[a] < table_.symbols[b]; });
    }
    for (std::size_t i = 0; i < by_name.size(); ++i) ranks[by_name[i]] = i;
    return ranks;
  }

  void drop_repeats(std::vector<std::size_t>& order, const std::vector<std::int64_t>& times) {
    std::size_t kept = 0;
    for (const std::size_t row : order) {
      const bool repeat = kept > 0 && series(order[kept - 1]) == series(row) && times[order[kept - 1]] == times[row];
      if (!repeat) {
        order[kept++] = row;
        continue;
      }
      if (options_.duplicates == DuplicatePolicy::error) refuse_repeat({order[kept - 1], row});
      if (options_.duplicates == DuplicatePolicy::last) order[kept - 1] = row;
      ++out_.repeats;
    }
    order.resize(kept);
  }

  // Replaces the table by these rows, in this order.
  void apply_order(const std::vector<std::size_t>& order) {
    const std::size_t widest = std::max<std::size_t>(sizeof(double), table_.dates ? table_.dates->longest() : 0);
    const Reservation reservation = context_.budget.reserve(Bytes{order.size() * widest}, "sorting rows");
    for (std::shared_ptr<NumberColumn>& column : table_.numbers) {
      auto ordered = std::make_shared<NumberColumn>();
      for (const std::size_t row : order) ordered->append((*column)[row]);
      column = std::move(ordered);
    }
    if (table_.dates) {
      auto ordered = std::make_shared<TextColumn>();
      for (const std::size_t row : order) ordered->append(table_.dates->view(row));
      table_.dates = std::move(ordered);
    }
    table_.series = {};
    table_.rows = order.size();
    table_.finish_appending();
  }

  TableRows& table_;
  const RenderOptions& options_;
  RunContext& context_;
  ArrangedSeries out_;
};

}  // namespace

Bytes TableRows::memory() const {
  Bytes out = series.memory();
  for (const auto& column : numbers) out += column->memory();
  if (dates) out += dates->memory();
  return out;
}

void TableRows::finish_appending() {
  for (const auto& column : numbers) column->finish_appending();
  if (dates) dates->finish_appending();
  series.finish_appending();
}

ArrangedSeries arrange_rows(TableRows& table, const RenderOptions& options, RunContext& context) {
  return Arranger(table, options, context).arrange_rows();
}

}  // namespace millrace::render
