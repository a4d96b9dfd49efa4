#include "src/io/table/dates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// What is left of a text while it is read from its front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char wanted) {
    if (peek() != wanted || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_any(std::string_view wanted) {
    if (rest_.empty() || wanted.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip(std::string_view unwanted) {
    while (take_any(unwanted)) {
    }
  }
  std::size_t digits_ahead() const {
    std::size_t count = 0;
    while (count < rest_.size() && is_digit(rest_[count])) ++count;
    return count;
  }
  // A number of all the digits that follow, if they are this many.
  std::optional<int> number(std::size_t least, std::size_t most) {
    const std::size_t count = digits_ahead();
    return count < least || count > most ? std::nullopt : std::optional(take_number(count));
  }
  // Of the next `count` digits, which are there.
  int take_number(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value * 10 + (rest_[i] - '0');
    rest_.remove_prefix(count);
    return value;
  }
  // "AM" or "PM" comes next, behind spaces or a dash.
  bool before_half_day() const {
    Cursor copy(rest_);
    copy.skip(" -");
    return copy.take_word("am") || copy.take_word("pm");
  }
  std::string_view letters() {
    std::size_t count = 0;
    while (count < rest_.size() && is_letter(rest_[count])) ++count;
    const std::string_view word = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return word;
  }
  // What stands in brackets at the end.
  void drop_brackets() {
    if (rest_.ends_with(']')) rest_ = rest_.substr(0, std::min(rest_.find('['), rest_.size()));
  }
  // "UTC" and the like, in any case.
  bool take_word(std::string_view lower) {
    if (rest_.size() < lower.size() || lower_ascii(rest_.substr(0, lower.size())) != lower) return false;
    rest_.remove_prefix(lower.size());
    return true;
  }

 private:
  std::string_view rest_;
};

// Nanoseconds; nothing where there is no such day.
std::optional<std::int64_t> day(int year, int month, int day_of_month) {
  namespace c = std::chrono;
  if (year < 1678 || year > 2261 || month < 1 || day_of_month < 1) return std::nullopt;
  const c::year_month_day date{c::year(year), c::month(static_cast<unsigned>(month)),
                               c::day(static_cast<unsigned>(day_of_month))};
  if (!date.ok()) return std::nullopt;
  return c::sys_days(date).time_since_epoch().count() * 86400 * kSecond;
}

// From 50 on they are of the last century: prices are of the past, and POSIX's 69 would take those of 1950 to 1968 for
// the future.
int full_year(int two_digits) { return two_digits + (two_digits < 50 ? 2000 : 1900); }

// Of exactly two or four digits.
std::optional<int> year_of(Cursor& c) {
  const std::size_t digits = c.digits_ahead();
  if (digits != 2 && digits != 4) return std::nullopt;
  const int value = c.take_number(digits);
  return digits == 2 ? full_year(value) : value;
}

// 1 to 12 for a month's English name or its first letters; 0 for another word.
int month_named(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                        "may",       "june",     "july",     "august",
                                                        "september", "october",  "november", "december"};
  if (word.size() < 3 || word.size() > 9) return 0;
  const std::string lower = lower_ascii(word);
  for (std::size_t m = 0; m < kMonths.size(); ++m) {
    const bool whole = lower == kMonths[m] || lower == kMonths[m].substr(0, 3) || (m == 8 && lower == "sept");
    if (whole) return static_cast<int>(m) + 1;
  }
  return 0;
}

bool is_weekday(std::string_view word) {
  constexpr std::array<std::string_view, 7> kDays = {"monday", "tuesday",  "wednesday", "thursday",
                                                     "friday", "saturday", "sunday"};
  if (word.size() < 3 || word.size() > 9) return false;
  const std::string lower = lower_ascii(word);
  return std::any_of(kDays.begin(), kDays.end(),
                     [&](std::string_view name) { return lower == name || lower == name.substr(0, 3); });
}

// Digits behind a point, as a number of `digits` digits; more are left out.
std::int64_t fraction(Cursor& c, int digits) {
  std::int64_t value = 0;
  for (; c.digits_ahead() > 0;) {
    const int digit = c.take_number(1);
    if (digits > 0) {
      value = value * 10 + digit;
      --digits;
    }
  }
  for (; digits > 0; --digits) value *= 10;
  return value;
}

// Nanoseconds east of Greenwich; nothing where it is no zone.
std::optional<std::int64_t> zone(Cursor& c) {
  c.skip(" ");
  // Java names the place too: "+05:30[Asia/Kolkata]".
  c.drop_brackets();
  if (c.at_end() || c.take('Z') || c.take('z')) return c.at_end() ? std::optional<std::int64_t>(0) : std::nullopt;
  if ((c.take_word("utc") || c.take_word("gmt")) && c.at_end()) return 0;
  const bool west = c.peek() == '-';
  if (!c.take('+') && !c.take('-')) return std::nullopt;
  int hours = 0, minutes = 0;
  const std::size_t digits = c.digits_ahead();
  if (digits == 4) {
    hours = c.take_number(2);
    minutes = c.take_number(2);
  } else {
    if (digits < 1 || digits > 2) return std::nullopt;
    hours = c.take_number(digits);
    if (c.take(':')) {
      if (c.digits_ahead() != 2) return std::nullopt;
      minutes = c.take_number(2);
    }
  }
  // As Go and pandas print it: "+0000 UTC".
  c.skip(" ");
  if (c.peek() == 'U') c.take_word("utc");
  if (!c.at_end() || hours > 15 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (hours * 60LL + minutes) * 60 * kSecond;
}

// What remains of a text behind its day: nothing, or a time of day.
std::optional<std::int64_t> clock(Cursor& c) {
  const std::size_t digits = c.digits_ahead();
  int hour = 0, minute = 0, second = 0;
  std::int64_t nanos = 0;
  if (digits == 6 || digits == 4) {
    hour = c.take_number(2);
    minute = c.take_number(2);
    if (digits == 6) second = c.take_number(2);
  } else {
    if (digits < 1 || digits > 2) return std::nullopt;
    hour = c.take_number(digits);
    if (c.take(':')) {
      if (c.digits_ahead() != 2) return std::nullopt;
      minute = c.take_number(2);
      if (c.take(':')) {
        if (c.digits_ahead() != 2) return std::nullopt;
        second = c.take_number(2);
      }
    } else if (!c.before_half_day()) {
      return std::nullopt;  // "11 AM" is an hour, "11" might be anything
    }
  }
  if (c.take_any(".,")) {
    if (c.digits_ahead() == 0) return std::nullopt;
    nanos = fraction(c, 9);
  }
  if (c.before_half_day()) c.skip(" -");
  const bool after_noon = c.take_word("pm");
  if (after_noon || c.take_word("am")) {
    if (hour < 1 || hour > 12) return std::nullopt;
    hour = hour % 12 + (after_noon ? 12 : 0);
  }
  // A leap second is written as the sixtieth; the end of a day, by some, as its twenty-fourth hour.
  if (hour > 24 || minute > 59 || second > 60 || (hour == 24 && (minute > 0 || second > 0))) return std::nullopt;
  const std::optional<std::int64_t> east = zone(c);
  if (!east) return std::nullopt;
  return (hour * 3600LL + minute * 60 + second) * kSecond + nanos - *east;
}

std::optional<std::int64_t> with_clock(std::optional<std::int64_t> day_ns, Cursor& c) {
  if (!day_ns) return std::nullopt;
  if (c.at_end()) return day_ns;
  // "2016-12-01T09:30", "20161201 093000", "01DEC2016:09:30:00", "2016.12.01,09:30"; a zone may follow a day at once.
  if (c.peek() != '+' && c.peek() != 'Z' && !c.take_any("Tt ,:_;-D")) return std::nullopt;
  c.skip(" ");
  const std::optional<std::int64_t> rest = c.digits_ahead() > 0 ? clock(c) : [&]() -> std::optional<std::int64_t> {
    const auto east = zone(c);
    return east ? std::optional(-*east) : std::nullopt;
  }();
  return rest ? std::optional(*day_ns + *rest) : std::nullopt;
}

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
  return with_clock(day(short_year ? full_year(*year) : *year, *month, *day_of_month), c);
}

std::optional<std::int64_t> year_last(std::string_view text, bool month_first) {
  Cursor c(text);
  const auto first = c.number(1, 2);
  const char separator = c.peek();
  if (!first || !c.take_any("/-.")) return std::nullopt;
  const auto second = c.number(1, 2);
  if (!second || !c.take(separator)) return std::nullopt;
  const auto year = year_of(c);
  if (!year) return std::nullopt;
  return with_clock(month_first ? day(*year, *first, *second) : day(*year, *second, *first), c);
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
  const int month = month_named(word);
  if (month == 0) return std::nullopt;
  c.skip(kBetween);
  if (first && *first > 31) {
    const auto last = c.number(1, 2);
    return last ? with_clock(day(*first, month, *last), c) : std::nullopt;
  }
  if (first) {
    const auto year = year_of(c);
    return year ? with_clock(day(*year, month, *first), c) : std::nullopt;
  }
  const std::size_t digits = c.digits_ahead();
  if (digits == 4) return with_clock(day(c.take_number(4), month, 1), c);
  const auto day_of_month = c.number(1, 2);
  if (!day_of_month || !c.take_any(kBetween)) return std::nullopt;
  c.skip(kBetween);
  const auto year = year_of(c);
  return year ? with_clock(day(*year, month, *day_of_month), c) : std::nullopt;
}

std::optional<std::int64_t> compact(std::string_view text) {
  Cursor c(text);
  const std::size_t digits = c.digits_ahead();
  if (digits != 8 && digits != 10 && digits != 12 && digits != 14) return std::nullopt;
  const int year = c.take_number(4), month = c.take_number(2), day_of_month = c.take_number(2);
  const auto day_ns = day(year, month, day_of_month);
  if (digits == 8 || !day_ns) return with_clock(day_ns, c);
  if (digits == 10) {
    // Of ten digits seconds since 1970 have as many: until 2030 none of those look like an hour of these years.
    const int hour = c.take_number(2);
    if (year < 1900 || year > 2100 || hour > 23 || !c.at_end()) return std::nullopt;
    return *day_ns + hour * 3600 * kSecond;
  }
  const auto rest = clock(c);
  return rest ? std::optional(*day_ns + *rest) : std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view text, std::size_t digits) {
  Cursor c(text);
  const auto value = c.number(digits, digits);
  if (!value || !c.at_end()) return std::nullopt;
  return digits == 4 ? day(*value, 1, 1) : day(*value / 100, *value % 100, 1);
}

// A number of at most 19 digits, split at its point; 1609459200, 1609459200.5, 1.6E9 is none.
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

// Seconds have less than 12 digits until the year 5138, milliseconds more than 11 since 1973, and so on: the decimal
// power of nanoseconds that 1 is.
int epoch_digits(std::int64_t value) {
  if (value < 100'000'000'000) return 9;
  return value < 100'000'000'000'000 ? 6 : value < 100'000'000'000'000'000 ? 3 : 0;
}

std::optional<std::int64_t> epoch(std::string_view text, int digits) {
  const auto value = decimal(text);
  if (!value) return std::nullopt;
  if (digits == DateNotation::kOwnUnits) digits = epoch_digits(value->whole);
  std::int64_t unit = 1, ns = 0;
  for (int i = 0; i < digits; ++i) unit *= 10;
  if (__builtin_mul_overflow(value->whole, unit, &ns)) return std::nullopt;
  Cursor c(value->fraction);
  if (__builtin_add_overflow(ns, fraction(c, digits), &ns)) return std::nullopt;
  return value->negative ? -ns : ns;
}

// By the largest number of a column: its first ones may be few seconds after 1970. A number below 10^8 counts rows, or
// days since 1900, but hardly seconds. Where neighbours differ by a factor that no time between them explains, an
// exchange has changed its unit, and each number says its own.
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
  if (mixed) return DateNotation(DateNotation::Form::epoch, DateNotation::kOwnUnits);
  return DateNotation(DateNotation::Form::epoch, epoch_digits(largest));
}

bool is_plain_number(DateNotation::Form form) {
  using Form = DateNotation::Form;
  return form == Form::compact || form == Form::year_and_month || form == Form::year || form == Form::epoch;
}

// Where the same texts can be read in two ways that are no matter of order, the first of these is meant.
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
      return "days with the month's name";
    case Form::day_first:
      return "day/month/year";
    case Form::month_first:
      return "month/day/year";
    case Form::year_and_month:
      return "yyyymm";
    case Form::year:
      return "years";
    case Form::epoch:
      if (epoch_digits_ == kOwnUnits) return "units of their own since 1970";
      return epoch_digits_ == 9   ? "seconds since 1970"
             : epoch_digits_ == 6 ? "milliseconds since 1970"
             : epoch_digits_ == 3 ? "microseconds since 1970"
                                  : "nanoseconds since 1970";
  }
  return "";
}

bool is_time_of_day(std::string_view text) {
  Cursor c(trim(text));
  return c.digits_ahead() > 0 && clock(c).has_value();
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
  // A notation in which none of these can be read is not the column's.
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
  // Plain numbers may be dates by chance; a day that is written as one is none.
  if (out.possible.empty() && most > 0 && (most * 2 >= count || written_as_day)) out.unread = unread;
  return out;
}

}  // namespace millrace
