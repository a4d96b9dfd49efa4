#include "src/base/sizes.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

namespace millrace {

Outcome<Bytes> parse_bytes(std::string_view text) {
  const auto fail = [&](const char* why) {
    return Error{ErrorCode::usage, fmt::format("'{}' is not a size: {}", text, why), "",
                 "write a number and a unit, such as 512M or 2G"};
  };
  double number = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (ec != std::errc{}) return fail("it does not begin with a number");
  if (!(number >= 0) || !std::isfinite(number)) return fail("it must be zero or more");
  std::string unit;
  for (const char* p = end; p != text.data() + text.size(); ++p) {
    if (*p != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*p)));
  }
  if (unit.ends_with("ib")) {
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with("b")) {
    unit.resize(unit.size() - 1);
  }
  double factor = 1;
  if (unit == "k") {
    factor = 1024.0;
  } else if (unit == "m") {
    factor = 1024.0 * 1024;
  } else if (unit == "g") {
    factor = 1024.0 * 1024 * 1024;
  } else if (unit == "t") {
    factor = 1024.0 * 1024 * 1024 * 1024;
  } else if (!unit.empty()) {
    return fail("its unit is not K, M, G or T");
  }
  const double bytes = number * factor;
  if (bytes >= 9e18) return fail("it is too large");
  return Bytes{static_cast<std::uint64_t>(bytes)};
}

std::string format_bytes(Bytes bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes.count);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes.count);
  return value < 10 ? fmt::format("{:.1f} {}", value, kUnits[unit]) : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0)) return "?";
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string format_short_duration(double seconds) {
  return seconds < 0.95 ? fmt::format("{:.{}f} ms", seconds * 1e3, seconds < 0.01 ? 1 : 0) : format_duration(seconds);
}

std::string group_digits(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string format_rate(double per_second) {
  // Work that took no measurable time has no rate.
  if (!std::isfinite(per_second) || per_second >= 1e18) return "?";
  if (per_second >= 100) return group_digits(static_cast<std::uint64_t>(std::llround(per_second)));
  if (per_second >= 10) return fmt::format("{:.1f}", per_second);
  return fmt::format("{:.2f}", per_second);
}

}  // namespace millrace
