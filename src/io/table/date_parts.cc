#include "src/io/table/date_parts.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace millrace::dates {

std::optional<std::int64_t> day(int year, int month, int day_of_month) {
  namespace c = std::chrono;
  if (year < 1678 || year > 2261 || month < 1 || day_of_month < 1) return std::nullopt;
  const c::year_month_day date{c::year(year), c::month(static_cast<unsigned>(month)),
                               c::day(static_cast<unsigned>(day_of_month))};
  if (!date.ok()) return std::nullopt;
  return c::sys_days(date).time_since_epoch().count() * 86400 * kSecond;
}

// Two-digit years from 50 on belong to the last century. Prices are of the past, and POSIX's limit of 69 would put
// those of 1950 to 1968 into the future.
int expand_year(int two_digits) { return two_digits + (two_digits < 50 ? 2000 : 1900); }

std::optional<int> read_year(Cursor& c) {
  const std::size_t digits = c.digits_ahead();
  if (digits != 2 && digits != 4) return std::nullopt;
  const int value = c.take_number(digits);
  return digits == 2 ? expand_year(value) : value;
}

int parse_month(std::string_view word) {
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

namespace {

// Returns the offset in nanoseconds east of Greenwich; nullopt if the text is no zone.
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
  // Go and pandas print a zone as "+0000 UTC".
  c.skip(" ");
  if (c.peek() == 'U') c.take_word("utc");
  if (!c.at_end() || hours > 15 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (hours * 60LL + minutes) * 60 * kSecond;
}

}  // namespace

std::optional<std::int64_t> read_time_of_day(Cursor& c) {
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
  // A leap second is written as second 60; some programs write the end of a day as hour 24.
  if (hour > 24 || minute > 59 || second > 60 || (hour == 24 && (minute > 0 || second > 0))) return std::nullopt;
  const std::optional<std::int64_t> east = zone(c);
  if (!east) return std::nullopt;
  return (hour * 3600LL + minute * 60 + second) * kSecond + nanos - *east;
}

std::optional<std::int64_t> add_time_of_day(std::optional<std::int64_t> day_ns, Cursor& c) {
  if (!day_ns) return std::nullopt;
  if (c.at_end()) return day_ns;
  // "2016-12-01T09:30", "20161201 093000", "01DEC2016:09:30:00", "2016.12.01,09:30"; a zone may directly follow a day.
  if (c.peek() != '+' && c.peek() != 'Z' && !c.take_any("Tt ,:_;-D")) return std::nullopt;
  c.skip(" ");
  const std::optional<std::int64_t> rest =
      c.digits_ahead() > 0 ? read_time_of_day(c) : [&]() -> std::optional<std::int64_t> {
    const auto east = zone(c);
    return east ? std::optional(-*east) : std::nullopt;
  }();
  return rest ? std::optional(*day_ns + *rest) : std::nullopt;
}

}  // namespace millrace::dates
