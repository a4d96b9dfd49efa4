// Input: the text that a user wrote as a value.
// Output: the number or the colour that it means.
// Never: accepts a text with something left over, or a number out of its range.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace {

// Throw Failure(usage) with the text and the accepted range; Settings add the option's name.
double parse_number(std::string_view text, double lowest, double highest);
long long parse_whole_number(std::string_view text, long long lowest, long long highest);
// Reads a whole number that a program wrote; false if the text has anything else or the number does not fit.
template <std::integral Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}
// Reads "#c00020", upper or lower case, as red, green, blue.
std::optional<std::array<std::uint8_t, 3>> parse_color(std::string_view text);

}  // namespace millrace
