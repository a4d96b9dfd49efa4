// Input: a kind of charts.
// Output: series for tests, with every kind of rise and fall.
// Never: checks the charts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "src/kernels/chart/chart_test_vectors.h"

namespace millrace::chart {

inline constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

// Course of a series.
enum class SeriesShape { walk, flat, level, steep, spikes, gaps, few, none, tiny, huge };
inline constexpr SeriesShape kCourses[] = {
    SeriesShape::walk, SeriesShape::flat, SeriesShape::level, SeriesShape::steep, SeriesShape::spikes,
    SeriesShape::gaps, SeriesShape::few,  SeriesShape::none,  SeriesShape::tiny,  SeriesShape::huge};

// Returns open, high, low, close and volume of each row, as far as the style needs them.
inline std::vector<double> make_rows(SeriesShape course, std::size_t rows, const ChartSpec& spec,
                                     std::mt19937_64& random) {
  std::normal_distribution<double> step;
  std::vector<double> out;
  double close = 100;
  const auto number = [&](std::size_t row) {
    switch (course) {
      case SeriesShape::flat:
        return 100 + 1e-7 * step(random);
      case SeriesShape::level:
        return 42.0;
      case SeriesShape::steep:
        return row % 2 == 0 ? 10 + step(random) : 90 + step(random);
      case SeriesShape::spikes:
        return row % 13 == 5 ? 1000.0 : 100 + step(random);
      case SeriesShape::tiny:
        return 5e-320 * (1 + static_cast<double>(random() % 9));
      case SeriesShape::huge:
        return 9e299 * step(random);
      default:
        return close += step(random);
    }
  };
  for (std::size_t row = 0; row < rows; ++row) {
    const double open = number(row), end = number(row + 1);
    const double high = std::max(open, end) + std::abs(step(random)) * 1e-3,
                 low = std::min(open, end) - std::abs(step(random)) * 1e-3;
    const bool gap = (course == SeriesShape::gaps && random() % 4 == 0) ||
                     (course == SeriesShape::few && row % 17 != 3) || course == SeriesShape::none;
    const double all[] = {open, high, low, end, random() % 9 == 0 ? -7 : 1000 * std::abs(step(random))};
    for (const PriceColumn role : price_columns_of(spec)) {
      out.push_back(gap || random() % 101 == 0 ? (random() % 2 == 0 ? kGap : 1e301) : all[role]);
    }
  }
  return out;
}

inline ChartTestVector make_charts(const ChartSpec& spec, PixelKind kind, std::uint64_t seed, std::size_t before) {
  std::mt19937_64 random(seed);
  ChartTestVector out{spec, kind, std::size(kCourses), before, {}};
  for (const SeriesShape course : kCourses) {
    const std::vector<double> one = make_rows(course, spec.rows + before, spec, random);
    out.series.insert(out.series.end(), one.begin(), one.end());
  }
  return out;
}

inline ChartSpec line(int width, int height, std::size_t rows, double pixels) {
  return {Style::line, false, false, width, height, pixels, rows, 0};
}

}  // namespace millrace::chart
