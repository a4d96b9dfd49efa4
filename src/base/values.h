// Input: what a person wrote for a value.
// Output: the number or the colour that it is.
// Never: takes a part of a text, or a number that is none.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace {

// Failure(usage) that says what was written and what may be: for Settings, which add the option's name.
double number_of(std::string_view text, double lowest, double highest);
long long whole_number_of(std::string_view text, long long lowest, long long highest);
// A whole number as a program wrote it, and nothing else; false where the text is none, or too large.
template <std::integral Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}
// "#c00020", in either case, as red, green, blue.
std::optional<std::array<std::uint8_t, 3>> color_of(std::string_view text);

}  // namespace millrace
