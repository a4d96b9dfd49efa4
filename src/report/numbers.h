// Input: numbers that a person shall read.
// Output: their text: the same on every machine and in every language, with a true minus sign (U+2212).
// Never: leaves more digits than were asked for, or "nan", "inf", "-0".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::report {

// `digits` significant digits, zeros at the end kept: 0.810, 12.3, 1,235; below 1e-4 and from 1e7 on as a power of ten:
// 1.23×10⁻⁵. NaN is an en dash, infinity is ∞.
std::string number_text(double value, int digits = 3);

// `decimals` digits behind the point; thousands are grouped.
std::string fixed_text(double value, int decimals);

// The power of ten of |value|, rounded to `digits` significant digits first: 2 of 123, 3 of 999.9 with three digits.
// `value` is finite and not 0.
int decade_of(double value, int digits = 17);

// "⁻⁵".
std::string superscript(int number);

// "[0.120, 0.310]".
std::string interval_text(double low, double high, int digits = 3);

// Three significant digits without zeros at their end, "0.003". The smallest p that `permutations` permutations can
// give, 1 / (permutations + 1), is a bound: "≤ 0.0001". 0 permutations: of a distribution, below 1e-6 "< 10⁻⁶".
std::string p_number(double p, std::size_t permutations);
// That as a statement that no line is broken in: "p = 0.003", "p ≤ 0.0001".
std::string p_equation(std::string_view number);
// Both, with what a bound is due to: "p ≤ 0.0001 (10,000 permutations)".
std::string p_text(double p, std::size_t permutations);

// At most `most` characters, the middle of a longer one left out: "prompt_0…_long". Of UTF-8; most >= 3.
std::string shortened(std::string_view text, std::size_t most);
// Characters, each code point as one.
std::size_t characters(std::string_view text);

}  // namespace millrace::report
