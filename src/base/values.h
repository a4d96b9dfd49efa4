// Enters: what a person wrote for a value.
// Leaves: the number or the colour that it is.
// Never: takes a part of a text, or a number that is none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace {

// Failure(usage) that says what was written and what may be: for Settings, which add the option's name.
double number_of(std::string_view text, double lowest, double highest);
long long whole_number_of(std::string_view text, long long lowest, long long highest);
// "#c00020", in either case, as red, green, blue.
std::optional<std::array<std::uint8_t, 3>> color_of(std::string_view text);

}  // namespace millrace
