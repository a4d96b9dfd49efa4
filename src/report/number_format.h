// Input: numbers for people to read.
// Output: their text: the same on every machine and in every language, with a true minus sign (U+2212).
// Never: writes more digits than were requested, or "nan", "inf", "-0".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::report {

// Returns `digits` significant digits, with zeros at the end: 0.810, 12.3, 1,235. Below 1e-4 and from 1e7 on it is a
// power of ten: 1.23×10⁻⁵. NaN is an en dash, infinity is ∞.
std::string format_number(double value, int digits = 3);

// Returns `decimals` digits behind the point; thousands are grouped.
std::string format_fixed(double value, int decimals);

// Returns the power of ten of |value|, rounded to `digits` significant digits first: 2 of 123, 3 of 999.9 with three
// digits. `value` is finite and not 0.
int decade_of(double value, int digits = 17);

// Returns a text such as "⁻⁵".
std::string format_superscript(int number);

// Returns a text such as "[0.120, 0.310]".
std::string format_interval(double low, double high, int digits = 3);

// Returns three significant digits without zeros at their end, such as "0.003". The smallest p that `permutations`
// permutations can give, 1 / (permutations + 1), is a bound: "≤ 0.0001". Without permutations p is of a distribution;
// below 1e-6 it is "< 10⁻⁶".
std::string format_p_value(double p, std::size_t permutations);
// Returns such a number as a statement without line breaks: "p = 0.003", "p ≤ 0.0001".
std::string format_p_equation(std::string_view number);
// Returns the statement of p, with the reason of a bound: "p ≤ 0.0001 (10,000 permutations)".
std::string format_p_with_bound(double p, std::size_t permutations);

// Returns at most `most` characters of a UTF-8 text, without its middle if it is longer: "prompt_0…_long". `most` is at
// least 3.
std::string shorten_middle(std::string_view text, std::size_t most);
// Returns the number of characters, each code point as one.
std::size_t count_characters(std::string_view text);

}  // namespace millrace::report
