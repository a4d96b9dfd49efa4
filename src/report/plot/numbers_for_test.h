// Input: nothing.
// Output: NaN and infinity, which every figure must leave out.
// Never: is part of the program.
#pragma once

#include <limits>

namespace millrace::report {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace millrace::report
