// Input: numbers of videos, a row per video, each in a group.
// Output: tests of whether groups differ: of two samples, by permutations, bootstrap intervals, separability.
// Never: reads a file, or uses an order, a clock or a library that another machine does not share. Results have the
//   same bits everywhere, for any number of threads.
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

// Interval of 95 %.
struct Interval {
  double low = kNoNumber, high = kNoNumber;
};

// Reason why there is no number.
enum class UntestedReason : std::uint8_t {
  none,
  too_few,      // a group has one video only
  no_variance,  // both groups are constant, whether or not they are equal
  absent,       // a group has no video with a value
};

// Table whose rows are videos, and whose columns are what was measured. A value is 0, or its magnitude is between
// kMinMagnitude and kMaxMagnitude, so that its square can be represented; NaN is absent.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr double kMinMagnitude = 1e-150, kMaxMagnitude = 1e150;
struct SampleTable {
  std::span<const double> values;         // [rows, columns]
  std::span<const std::uint32_t> groups;  // [rows], each below group_count
  std::size_t columns = 0;
  std::size_t group_count = 0;

  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

// Runs executor.parallel_for() to its end. Throws Failure(cancelled) if the executor was stopped: some of the work was
// not done then, and what comes next must not read it.
void for_all(const Executor& executor, std::size_t count, std::size_t grain,
             const std::function<void(std::size_t, std::size_t)>& body);

// Throws Failure(usage) if sizes and groups do not match, or if there are more than 65,535 rows. It also does so if a
// number is infinite or of another magnitude.
void check(const SampleTable& table);

// Returns the rows of each group, in the table's order.
std::vector<std::vector<std::uint32_t>> rows_by_group(const SampleTable& table);

// Returns (0, 1), (0, 2), ... (1, 2), ...: the order of everything that exists once per pair.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(std::size_t groups);

}  // namespace millrace::statistics
