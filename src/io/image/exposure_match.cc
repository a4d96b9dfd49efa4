#include "src/io/image/exposure_match.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/base/text.h"
#include "src/io/image/exif.h"

namespace millrace {
namespace {

bool is_same_camera(const Provenance& a, const Provenance& b) {
  if (a.model.empty() || lower_ascii(a.model) != lower_ascii(b.model)) return false;
  if (lower_ascii(a.make) != lower_ascii(b.make)) return false;
  return a.serial.empty() || b.serial.empty() || a.serial == b.serial;
}

// Converts "+01:00", "-03:30" or "Z" to the seconds that local time is ahead of UTC.
std::optional<std::int64_t> offset_seconds(std::string_view text) {
  constexpr std::string_view kShape = "+dd:dd";
  constexpr int kMaxOffsetHours = 15;  // hours; no time zone is further ahead or behind
  text = trim(text);
  if (text == "Z") return 0;
  if (text.size() != kShape.size() || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9' ? text[i] - '0' : 100; };
  const int hours = 10 * digit(1) + digit(2), minutes = 10 * digit(4) + digit(5);
  if (hours > kMaxOffsetHours || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -60 : 60) * std::int64_t{60 * hours + minutes};
}

// Returns the digits of the fraction; none when the text holds anything else.
std::string_view fraction_of(const Provenance& p) {
  const std::string_view text = trim(p.subsecond);
  return text.find_first_not_of("0123456789") == std::string_view::npos ? text : std::string_view();
}

bool exceeds_tolerance(const Rational& a, const Rational& b, double relative_tolerance, double tolerance) {
  if (!a.is_known() || !b.is_known()) return false;
  const double x = static_cast<double>(a.numerator) / static_cast<double>(a.denominator);
  const double y = static_cast<double>(b.numerator) / static_cast<double>(b.denominator);
  return std::abs(x - y) > std::max(tolerance, relative_tolerance * std::max(std::abs(x), std::abs(y)));
}

bool exposures_differ(const Provenance& a, const Provenance& b) {
  constexpr double kShare = 0.02, kStep = 0.05;  // cameras step by a third of an EV or more
  return exceeds_tolerance(a.exposure_time, b.exposure_time, kShare, 0) ||
         exceeds_tolerance(a.f_number, b.f_number, kShare, 0) ||
         exceeds_tolerance(a.exposure_bias, b.exposure_bias, 0, kStep) || (a.iso != 0 && b.iso != 0 && a.iso != b.iso);
}

bool is_same_known_exposure(const Provenance& a, const Provenance& b) {
  return a.exposure_time.is_known() && b.exposure_time.is_known() && !exposures_differ(a, b);
}

bool has_digits(std::string_view fraction) { return fraction.find_first_not_of('0') != std::string_view::npos; }

// True where both may be one shot, with a clock that is wrong by whole hours.
bool only_the_hour_differs(std::int64_t seconds_apart, const Provenance& a, const Provenance& b) {
  constexpr std::int64_t kHour = 3600;
  if (seconds_apart % kHour != 0) return false;
  const std::string_view x = fraction_of(a), y = fraction_of(b);
  if (has_digits(x) != has_digits(y)) return is_same_known_exposure(a, b);
  const std::size_t digits = std::min(x.size(), y.size());
  return has_digits(x.substr(0, digits)) && x.substr(0, digits) == y.substr(0, digits) && !exposures_differ(a, b);
}

}  // namespace

ExposureMatch compare_exposures(const Provenance& a, const Provenance& b) {
  if (!is_same_camera(a, b)) return ExposureMatch::unknown;
  auto first = parse_capture_second(a.taken), second = parse_capture_second(b.taken);
  const auto no_clock = [](const Provenance& p) { return trim(p.taken).starts_with("1970:01:01"); };
  if (!first || !second || no_clock(a) || no_clock(b)) return ExposureMatch::unknown;
  const auto ahead_first = offset_seconds(a.offset), ahead_second = offset_seconds(b.offset);
  if (ahead_first && ahead_second) {
    *first -= *ahead_first;
    *second -= *ahead_second;
  }
  if (*first != *second)
    return only_the_hour_differs(*first - *second, a, b) ? ExposureMatch::unknown : ExposureMatch::different;

  std::string_view x = fraction_of(a), y = fraction_of(b);
  const std::size_t digits = std::min(x.size(), y.size());
  x = x.substr(0, digits);
  y = y.substr(0, digits);
  if (x != y) return ExposureMatch::different;
  if (exposures_differ(a, b)) return ExposureMatch::different;
  return has_digits(x) ? ExposureMatch::same : ExposureMatch::unknown;
}

}  // namespace millrace
