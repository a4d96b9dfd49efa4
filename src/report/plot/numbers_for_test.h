// Input: nothing.
// Output: the numbers that are none, which every figure must leave out.
// Never: part of the program.
#pragma once

#include <limits>

namespace millrace::report {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace millrace::report
