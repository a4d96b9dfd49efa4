// Input: the text of a date, from its front.
// Output: its parts: numbers, names of months, a time of day, a time zone.
// Never: decides which number is the day, the month or the year: that is src/io/table/dates.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/text.h"

namespace millrace::dates {

constexpr std::int64_t kSecond = 1'000'000'000;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Rest of a text that is read from its front.
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
  // Reads all the digits that follow as a number, if there are `least` to `most` of them.
  std::optional<int> number(std::size_t least, std::size_t most) {
    const std::size_t count = digits_ahead();
    return count < least || count > most ? std::nullopt : std::optional(take_number(count));
  }
  // Reads the next `count` digits, which must be there, as a number.
  int take_number(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value * 10 + (rest_[i] - '0');
    rest_.remove_prefix(count);
    return value;
  }
  // Returns true if "AM" or "PM" comes next, after spaces or dashes.
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
  // Removes text in brackets at the end.
  void drop_brackets() {
    if (rest_.ends_with(']')) rest_ = rest_.substr(0, std::min(rest_.find('['), rest_.size()));
  }
  // Takes a word such as "UTC", in upper or lower case.
  bool take_word(std::string_view lower) {
    if (rest_.size() < lower.size() || lower_ascii(rest_.substr(0, lower.size())) != lower) return false;
    rest_.remove_prefix(lower.size());
    return true;
  }

 private:
  std::string_view rest_;
};

// Returns nanoseconds since 1970; nullopt if there is no such day.
std::optional<std::int64_t> day(int year, int month, int day_of_month);
int expand_year(int two_digits);
// Reads a year of exactly two or four digits.
std::optional<int> read_year(Cursor& c);
// Returns 1 to 12 for a month's English name or its first letters; 0 for another word.
int parse_month(std::string_view word);
bool is_weekday(std::string_view word);
// Reads the digits after a decimal point as a number of `digits` digits; further digits are left out.
std::int64_t fraction(Cursor& c, int digits);
// Reads the rest of a text as a time of day: its nanoseconds, less the offset of its zone.
std::optional<std::int64_t> read_time_of_day(Cursor& c);
// Reads the rest of a text after a day: nothing, or a time of day.
std::optional<std::int64_t> add_time_of_day(std::optional<std::int64_t> day_ns, Cursor& c);

}  // namespace millrace::dates
