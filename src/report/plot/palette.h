// Input: the number of a series, or a part of a range.
// Output: its look: a colour, and with it a dash and a mark, so that no two differ by colour alone.
// Never: depends on a theme; a page may show the classes named here in other colours in the dark.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::report {

// Okabe and Ito's colours (Color Universal Design, 2008) without their yellow, which is hard to see on white.
inline constexpr std::array<std::string_view, 7> kSeriesColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                                   "#e69f00", "#56b4e9", "#000000"};
inline constexpr std::array<std::string_view, 5> kDashes = {"", "6 3", "2 2.5", "9 3 2 3", "12 4"};
enum class MarkerShape { circle, square, triangle, diamond, triangle_down, cross };
inline constexpr std::size_t kMarks = 6;

// Look of the Nth series; after 7 x 5 x 6 of them looks repeat.
inline std::size_t colour_of(std::size_t n) { return n % kSeriesColours.size(); }
inline std::string_view dash_of(std::size_t n) { return kDashes[n % kDashes.size()]; }
inline MarkerShape mark_of(std::size_t n) { return static_cast<MarkerShape>(n % kMarks); }

// Colours of a picture's elements, and its background. Each is a class of the elements as well.
inline constexpr std::string_view kForeground = "#1d1d1b", kDimForeground = "#5f5f5a", kGridColor = "#e4e4e0",
                                  kAxisColor = "#8b8b85", kBackground = "#ffffff", kAbsentColor = "#d9d9d5";

// Shades in even steps in OKLab. Diverging: blue at 0, white at 0.5, orange at 1. Sequential: white at 0, dark blue at
// 1.
enum class Shades { diverging, sequential };
// Returns "#rrggbb" of the nearest of 65 shades; `part` is from 0 to 1, and values beyond count as the end.
std::string shade(Shades shades, double part);
// True if white text on this shade is easier to read than black text.
bool is_dark(std::string_view shade);
inline constexpr int kShadeSteps = 64;

}  // namespace millrace::report
