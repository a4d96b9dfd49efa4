// A column of dates, a line each, as anybody may have written it. Every notation reads it or does not; what one reads
// it reads again, and where all are read every one is.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "src/io/table/dates.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> column;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    column.push_back(text.substr(0, end));
    (void)is_time_of_day(column.back());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (const DateOrder order :
       {DateOrder::unknown, DateOrder::day_first, DateOrder::month_first, DateOrder::year_first}) {
    const DateReading reading = read_dates(
        column.size(), [&](std::size_t row) { return column[row]; }, order);
    if (reading.unread && (*reading.unread >= column.size() || !reading.possible.empty())) std::abort();
    for (const DateNotation& notation : reading.possible) {
      if (std::string_view(notation.name()).empty()) std::abort();
      for (const std::string_view cell : column) {
        if (!notation.parse(cell) || notation.parse(cell) != notation.parse(cell)) std::abort();
      }
    }
  }
  return 0;
}
