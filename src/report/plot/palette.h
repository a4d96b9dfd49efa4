// Input: which of several things is meant, or a part of a range.
// Output: how it looks: a colour, and with it a dash and a mark, so that no two are told apart by colour alone.
// Never: depends on a theme; a page may show the classes named here in other colours in the dark.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::report {

// Okabe and Ito's colours (Color Universal Design, 2008) without their yellow, which is not seen on white.
inline constexpr std::array<std::string_view, 7> kSeriesColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                                   "#e69f00", "#56b4e9", "#000000"};
inline constexpr std::array<std::string_view, 5> kDashes = {"", "6 3", "2 2.5", "9 3 2 3", "12 4"};
enum class Mark { circle, square, triangle, diamond, triangle_down, cross };
inline constexpr std::size_t kMarks = 6;

// The look of the Nth thing; after 7 x 5 x 6 of them looks come again.
inline std::size_t colour_of(std::size_t n) { return n % kSeriesColours.size(); }
inline std::string_view dash_of(std::size_t n) { return kDashes[n % kDashes.size()]; }
inline Mark mark_of(std::size_t n) { return static_cast<Mark>(n % kMarks); }

// Inks of a picture. Each is a class of the picture's elements as well as a colour of them.
inline constexpr std::string_view kInk = "#1d1d1b", kDimInk = "#5f5f5a", kGridInk = "#e4e4e0", kAxisInk = "#8b8b85",
                                  kGround = "#ffffff", kAbsentInk = "#d9d9d5";

// Both are even steps in OKLab. Diverging: blue at 0, white at 0.5, orange at 1. Sequential: white at 0, dark blue
// at 1.
enum class Shades { diverging, sequential };
// "#rrggbb" of the nearest of 65 shades; `part` from 0 to 1, what is beyond counts as the end.
std::string shade(Shades shades, double part);
// Whether white text is read better on it than black.
bool is_dark(std::string_view shade);
inline constexpr int kShadeSteps = 64;

}  // namespace millrace::report
