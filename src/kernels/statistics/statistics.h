// Input: numbers of videos, a row a video, each in a group.
// Output: whether groups differ: tests of two samples, permutations, bootstrap intervals, separability.
// Never: reads a file, or uses an order, a clock or a library that another machine does not share: the same bits
//   everywhere, for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "src/device/cpu/executor.h"

namespace millrace::statistics {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Of 95 %.
struct Interval {
  double low = kNoNumber, high = kNoNumber;
};

// Why there is no number.
enum class Reason : std::uint8_t {
  none,
  too_few,      // a group has one video only
  no_variance,  // both groups are constant, whether or not they are equal
  absent,       // a group has no video with a value
};

// Rows are videos, columns what was measured of them. Magnitudes are 0 or between kLeast and kMost, so that squares can
// be had; NaN is absent.
inline constexpr double kLeast = 1e-150, kMost = 1e150;
struct Table {
  std::span<const double> values;         // [rows, columns]
  std::span<const std::uint32_t> groups;  // [rows], each below group_count
  std::size_t columns = 0;
  std::size_t group_count = 0;

  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

// executor.parallel_for() to its end: Failure(cancelled) where the executor was told to stop, for then some of it was
// not done, and what comes next must not look at it.
void for_all(const Executor& executor, std::size_t count, std::size_t grain,
             const std::function<void(std::size_t, std::size_t)>& body);

// Failure(usage) where sizes and groups do not fit together, there are more than 65,535 rows, or a number is infinite
// or of another magnitude.
void check(const Table& table);

// Rows of each group, in the table's order.
std::vector<std::vector<std::uint32_t>> rows_by_group(const Table& table);

// (0, 1), (0, 2), ... (1, 2), ...: the order of everything that there is one of a pair.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(std::size_t groups);

}  // namespace millrace::statistics
