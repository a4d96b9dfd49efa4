#include "src/io/table/dates.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/io/table/date_parts.h"

namespace millrace {
namespace {

using namespace dates;

std::optional<std::int64_t> year_first(std::string_view text, bool short_year) {
  Cursor c(text);
  const auto year = short_year ? c.number(2, 2) : c.number(4, 4);
  const char separator = c.peek();
  if (!year || !c.take_any(short_year ? "/-." : "-/.")) return std::nullopt;
  const auto month = c.number(1, 2);
  if (!month) return std::nullopt;
  if (c.at_end() && separator == '-' && !short_year) return day(*year, *month, 1);
  if (!c.take(separator)) return std::nullopt;
  const auto day_of_month = c.number(1, 2);
  if (!day_of_month) return std::nullopt;
  return add_time_of_day(day(short_year ? expand_year(*year) : *year, *month, *day_of_month), c);
}

std::optional<std::int64_t> year_last(std::string_view text, bool month_first) {
  Cursor c(text);
  const auto first = c.number(1, 2);
  const char separator = c.peek();
  if (!first || !c.take_any("/-.")) return std::nullopt;
  const auto second = c.number(1, 2);
  if (!second || !c.take(separator)) return std::nullopt;
  const auto year = read_year(c);
  if (!year) return std::nullopt;
  return add_time_of_day(month_first ? day(*year, *first, *second) : day(*year, *second, *first), c);
}

std::optional<std::int64_t> named_month(std::string_view text) {
  constexpr std::string_view kBetween = " -/.,";
  Cursor c(text);
  std::string_view word = c.letters();
  if (is_weekday(word)) {
    c.skip(" ,.");
    word = c.letters();
  }
  std::optional<int> first;
  if (word.empty()) {
    first = c.number(1, 4);
    if (!first) return std::nullopt;
    c.skip(kBetween);
    word = c.letters();
  }
  const int month = parse_month(word);
  if (month == 0) return std::nullopt;
  c.skip(kBetween);
  if (first && *first > 31) {
    const auto last = c.number(1, 2);
    return last ? add_time_of_day(day(*first, month, *last), c) : std::nullopt;
  }
  if (first) {
    const auto year = read_year(c);
    return year ? add_time_of_day(day(*year, month, *first), c) : std::nullopt;
  }
  const std::size_t digits = c.digits_ahead();
  if (digits == 4) return add_time_of_day(day(c.take_number(4), month, 1), c);
  const auto day_of_month = c.number(1, 2);
  if (!day_of_month || !c.take_any(kBetween)) return std::nullopt;
  c.skip(kBetween);
  const auto year = read_year(c);
  return year ? add_time_of_day(day(*year, month, *day_of_month), c) : std::nullopt;
}

std::optional<std::int64_t> compact(std::string_view text) {
  Cursor c(text);
  const std::size_t digits = c.digits_ahead();
  if (digits != 8 && digits != 10 && digits != 12 && digits != 14) return std::nullopt;
  const int year = c.take_number(4), month = c.take_number(2), day_of_month = c.take_number(2);
  const auto day_ns = day(year, month, day_of_month);
  if (digits == 8 || !day_ns) return add_time_of_day(day_ns, c);
  if (digits == 10) {
    // Seconds since 1970 have ten digits too. Until 2030 none of them look like an hour of these years.
    const int hour = c.take_number(2);
    if (year < 1900 || year > 2100 || hour > 23 || !c.at_end()) return std::nullopt;
    return *day_ns + hour * 3600 * kSecond;
  }
  const auto rest = read_time_of_day(c);
  return rest ? std::optional(*day_ns + *rest) : std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view text, std::size_t digits) {
  Cursor c(text);
  const auto value = c.number(digits, digits);
  if (!value || !c.at_end()) return std::nullopt;
  return digits == 4 ? day(*value, 1, 1) : day(*value / 100, *value % 100, 1);
}

// A number with at most 19 digits before its point, and split there: 1609459200 or 1609459200.5, but not 1.6E9.
struct Decimal {
  bool negative = false;
  std::int64_t whole = 0;
  std::string_view fraction;
};
std::optional<Decimal> decimal(std::string_view text) {
  Decimal out;
  if (text.starts_with('-')) {
    out.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  if (point < text.size()) out.fraction = text.substr(point + 1);
  const auto digits = [](std::string_view part) { return std::all_of(part.begin(), part.end(), is_digit); };
  if (whole.empty() || whole.size() > 19 || !digits(whole) || !digits(out.fraction)) return std::nullopt;
  for (const char c : whole) {
    if (__builtin_mul_overflow(out.whole, 10, &out.whole) || __builtin_add_overflow(out.whole, c - '0', &out.whole)) {
      return std::nullopt;
    }
  }
  return out;
}

// Returns the decimal exponent of a unit in nanoseconds: 9 for seconds. Seconds have less than 12 digits until the year
// 5138, milliseconds more than 11 since 1973, and so on.
int epoch_digits(std::int64_t value) {
  if (value < 100'000'000'000) return 9;
  return value < 100'000'000'000'000 ? 6 : value < 100'000'000'000'000'000 ? 3 : 0;
}

std::optional<std::int64_t> epoch(std::string_view text, int digits) {
  const auto value = decimal(text);
  if (!value) return std::nullopt;
  if (digits == DateNotation::kUnitBySize) digits = epoch_digits(value->whole);
  std::int64_t unit = 1, ns = 0;
  for (int i = 0; i < digits; ++i) unit *= 10;
  if (__builtin_mul_overflow(value->whole, unit, &ns)) return std::nullopt;
  Cursor c(value->fraction);
  if (__builtin_add_overflow(ns, fraction(c, digits), &ns)) return std::nullopt;
  return value->negative ? -ns : ns;
}

// Finds the unit by the largest number of a column: its first ones may be few seconds after 1970. A number below 10^8
// counts rows, or days since 1900, but hardly seconds. Neighbours may differ by a factor that no time between them
// explains. An exchange has then changed its unit, and each number has the unit that its size says.
std::optional<DateNotation> epoch_notation(std::size_t count, const TextAt& text) {
  constexpr std::int64_t kTelling = 1'000'000'000, kOtherUnit = 100;
  std::int64_t largest = 0, before = 0;
  bool mixed = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = decimal(trim(text(i)));
    if (!value) continue;
    const std::int64_t low = std::min(before, value->whole), high = std::max(before, value->whole);
    mixed |= low >= kTelling && high / low >= kOtherUnit;
    before = value->whole;
    largest = std::max(largest, value->whole);
  }
  if (largest < 100'000'000) return std::nullopt;
  if (mixed) return DateNotation(DateNotation::Form::epoch, DateNotation::kUnitBySize);
  return DateNotation(DateNotation::Form::epoch, epoch_digits(largest));
}

bool is_plain_number(DateNotation::Form form) {
  using Form = DateNotation::Form;
  return form == Form::compact || form == Form::year_and_month || form == Form::year || form == Form::epoch;
}

// If the same texts can be read in two ways that are no matter of order, the first of these notations is meant.
std::vector<DateNotation> candidates(DateOrder order) {
  using Form = DateNotation::Form;
  std::vector<DateNotation> out = {DateNotation(Form::year_first), DateNotation(Form::compact),
                                   DateNotation(Form::named_month), DateNotation(Form::year_and_month),
                                   DateNotation(Form::year)};
  const auto add = [&](Form form, DateOrder meant) {
    if (order == DateOrder::unknown || order == meant) out.emplace_back(form);
  };
  add(Form::day_first, DateOrder::day_first);
  add(Form::month_first, DateOrder::month_first);
  add(Form::short_year_first, DateOrder::year_first);
  return out;
}

}  // namespace

std::optional<std::int64_t> DateNotation::parse(std::string_view text) const {
  text = trim(text);
  switch (form_) {
    case Form::year_first:
      return millrace::year_first(text, false);
    case Form::short_year_first:
      return millrace::year_first(text, true);
    case Form::compact:
      return millrace::compact(text);
    case Form::named_month:
      return millrace::named_month(text);
    case Form::day_first:
      return year_last(text, false);
    case Form::month_first:
      return year_last(text, true);
    case Form::year_and_month:
      return whole_number(text, 6);
    case Form::year:
      return whole_number(text, 4);
    case Form::epoch:
      return millrace::epoch(text, epoch_digits_);
  }
  return std::nullopt;
}

const char* DateNotation::name() const {
  switch (form_) {
    case Form::year_first:
      return "year-month-day";
    case Form::short_year_first:
      return "year/month/day";
    case Form::compact:
      return "yyyymmdd";
    case Form::named_month:
      return "dates with the month's name";
    case Form::day_first:
      return "day/month/year";
    case Form::month_first:
      return "month/day/year";
    case Form::year_and_month:
      return "yyyymm";
    case Form::year:
      return "years";
    case Form::epoch:
      if (epoch_digits_ == kUnitBySize) return "times since 1970 in several units";
      return epoch_digits_ == 9   ? "seconds since 1970"
             : epoch_digits_ == 6 ? "milliseconds since 1970"
             : epoch_digits_ == 3 ? "microseconds since 1970"
                                  : "nanoseconds since 1970";
  }
  return "";
}

bool is_time_of_day(std::string_view text) {
  Cursor c(trim(text));
  return c.digits_ahead() > 0 && read_time_of_day(c).has_value();
}

bool is_day(std::string_view text) {
  const std::vector<DateNotation> days = candidates(DateOrder::unknown);
  return text.find(':') == std::string_view::npos &&
         std::any_of(days.begin(), days.end(), [&](const DateNotation& one) {
           return one.form() != DateNotation::Form::year && one.parse(text).has_value();
         });
}

DateReading read_dates(std::size_t count, const TextAt& text, DateOrder order) {
  DateReading out;
  if (count == 0) return out;
  std::size_t most = 0;
  std::optional<std::size_t> unread;
  bool written_as_day = false;
  const auto weigh = [&](const DateNotation& notation) {
    std::size_t read = 0;
    std::optional<std::size_t> first_unread;
    for (std::size_t i = 0; i < count; ++i) {
      if (notation.parse(text(i))) {
        ++read;
      } else if (!first_unread) {
        first_unread = i;
      }
    }
    if (!first_unread) out.possible.push_back(notation);
    if (read > most) {
      most = read;
      unread = first_unread;
    }
    written_as_day |= read > 0 && !is_plain_number(notation.form());
  };
  // A notation that reads none of these samples is not the column's.
  std::vector<std::size_t> samples = {0, count - 1};
  for (std::size_t i = 0; i < 64; ++i) samples.push_back(i * count / 64);
  for (const DateNotation& notation : candidates(order)) {
    if (std::any_of(samples.begin(), samples.end(),
                    [&](std::size_t i) { return notation.parse(text(i)).has_value(); })) {
      weigh(notation);
    }
  }
  if (out.possible.empty()) {
    if (const auto notation = epoch_notation(count, text)) weigh(*notation);
  }
  // Plain numbers may be dates by chance; a text in a written form of a day is one on purpose.
  if (out.possible.empty() && most > 0 && (most * 2 >= count || written_as_day)) out.unread = unread;
  return out;
}

}  // namespace millrace