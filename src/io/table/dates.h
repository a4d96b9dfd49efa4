// Input: a column of dates or times, as people and exchanges write them.
// Output: the notations in which all of them can be read, and each as nanoseconds since 1970-01-01 UTC.
// Never: decides between two notations that both read the whole column: the caller may know the order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace millrace {

// Way to write a moment. A time of day may follow a day (09:30, 09:30:15.250, 9:30 PM, 093000), and Z, UTC, GMT or
// an offset may follow that. A moment without an offset is taken for UTC. Years of two digits are those from 1950 to
// 2049. Years go from 1678 to 2261, which is what 64 bits of nanoseconds hold.
class DateNotation {
 public:
  enum class Form {
    year_first,        // 2016-12-01, 2016/12/1, 2016.12.01, 2016-12 (its first day)
    compact,           // 20161201, 2016120109, 201612010930, 20161201093000
    named_month,       // 01-Dec-2016, 1 December 2016, Dec 1, 2016, 01DEC16, Thu Dec 1 2016
    day_first,         // 31/12/2016, 31.12.16
    month_first,       // 12/31/2016, 12-31-16
    short_year_first,  // 16/12/31
    year_and_month,    // 201612
    year,              // 2016
    epoch,             // seconds, milli-, micro- or nanoseconds since 1970
  };
  // Value of `epoch_digits`: each number has the unit that its size says.
  static constexpr int kUnitBySize = -1;
  explicit DateNotation(Form form, int epoch_digits = 0) : form_(form), epoch_digits_(epoch_digits) {}

  // Returns nullopt if the text is not written like this, or no such day exists.
  std::optional<std::int64_t> parse(std::string_view text) const;
  Form form() const { return form_; }
  // Returns a name for users: "day/month/year".
  const char* name() const;

 private:
  Form form_;
  int epoch_digits_;  // decimal exponent of the unit in nanoseconds: 9 for seconds, 0 for nanoseconds
};

// Functions that return true if a text alone can be a time of day (09:30, 093000), or a day without one.
bool is_time_of_day(std::string_view text);
bool is_day(std::string_view text);

// The first of day, month and short year, if the user named it.
enum class DateOrder { unknown, year_first, day_first, month_first };

struct DateReading {
  std::vector<DateNotation> possible;  // each reads all texts
  // Index of the first text that the best notation cannot read. Set if no notation reads all texts, but the best one
  // reads at least half, or one reads a written form of a day.
  std::optional<std::size_t> unread;
};
using TextAt = std::function<std::string_view(std::size_t)>;
DateReading read_dates(std::size_t count, const TextAt& text, DateOrder order);

}  // namespace millrace
