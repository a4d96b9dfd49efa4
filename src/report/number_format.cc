#include "src/report/number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/base/sizes.h"
#include "src/base/text.h"

namespace millrace::report {
namespace {

constexpr std::string_view kMinus = "\u2212", kTimesTen = "\u00D710", kAbsent = "\u2013", kInfinity = "\u221E";

// Returns the text of a number that is not finite, else an empty text.
std::string not_finite(double value) {
  if (value != value) return std::string(kAbsent);
  if (std::isinf(value)) return std::string(value < 0 ? kMinus : "") + std::string(kInfinity);
  return {};
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Groups the digits in front of the point of a fixed notation.
std::string grouped_digits(const std::string& fixed) {
  const std::size_t point = std::min(fixed.find('.'), fixed.size());
  std::string text = fixed;
  for (std::size_t i = point; i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

int decade_of(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  std::size_t at = text.find('e') + 1;
  if (text[at] == '+') ++at;
  int exponent = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), exponent);
  return exponent;
}

std::string format_superscript(int number) {
  static constexpr std::string_view kDigits[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                                 "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text;
  for (const char c : std::to_string(number)) {
    text += c == '-' ? std::string_view("\u207B") : kDigits[static_cast<std::size_t>(c - '0')];
  }
  return text;
}

std::string format_fixed(double value, int decimals) {
  if (std::string odd = not_finite(value); !odd.empty()) return odd;
  const std::string digits = fmt::format("{:.{}f}", std::fabs(value), decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return std::string(value < 0 && !zero ? kMinus : "") + grouped_digits(digits);
}

std::string format_number(double value, int digits) {
  if (std::string odd = not_finite(value); !odd.empty()) return odd;
  if (value == 0) return "0";
  // Digits are rounded first: 9.996 is 10.0, not 10.00.
  const int exponent = decade_of(value, digits);
  if (exponent >= -4 && exponent < 7) return format_fixed(value, std::max(digits - 1 - exponent, 0));
  const std::string scientific = fmt::format("{:.{}e}", std::fabs(value), digits - 1);
  return std::string(value < 0 ? kMinus : "") + scientific.substr(0, scientific.find('e')) + std::string(kTimesTen) +
         format_superscript(exponent);
}

std::string format_interval(double low, double high, int digits) {
  if (low != low || high != high) return std::string(kAbsent);
  return fmt::format("[{}, {}]", format_number(low, digits), format_number(high, digits));
}

std::string format_p_value(double p, std::size_t permutations) {
  if (p != p) return std::string(kAbsent);
  constexpr double kMinP = 1e-6;
  if (permutations == 0 && p < kMinP) return "< 10" + format_superscript(-6);
  const double least = 1 / (static_cast<double>(permutations) + 1);
  const bool bound = permutations > 0 && p <= least * (1 + 1e-9);
  // A bound may have fewer digits, rounded up: 1 / 10,001 is at most 0.0001.
  if (bound) return "\u2264 " + without_zeros(format_number(least, 2));
  return without_zeros(format_number(p, 3));
}

std::string format_p_equation(std::string_view number) {
  constexpr std::string_view kSpace = "\u00A0";
  std::string text = "p" + std::string(kSpace);
  const bool bound = number.starts_with("\u2264") || number.starts_with("<");
  if (!bound) text += "=" + std::string(kSpace);
  for (const char c : number) text += c == ' ' ? kSpace : std::string_view(&c, 1);
  return text;
}

std::string format_p_with_bound(double p, std::size_t permutations) {
  const std::string number = format_p_value(p, permutations);
  if (number.starts_with("\u2264"))
    return fmt::format("{} ({} permutations)", format_p_equation(number), group_digits(permutations));
  return format_p_equation(number);
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += !continues(c);
  return count;
}

std::string shorten_middle(std::string_view bytes, std::size_t most) {
  std::string text = replace_invalid_utf8(bytes);
  const std::size_t count = count_characters(text);
  if (count <= most) return text;
  const std::size_t front = most / 2, back = most - 1 - front;
  std::size_t seen = 0, front_end = text.size(), back_begin = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continues(text[i])) continue;
    if (seen == front) front_end = i;
    if (seen == count - back) back_begin = i;
    ++seen;
  }
  return text.substr(0, front_end) + "\u2026" + text.substr(back_begin);
}

}  // namespace millrace::report
