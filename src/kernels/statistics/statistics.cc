#include "src/kernels/statistics/statistics.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/error.h"

namespace millrace::statistics {

void for_all(const Executor& executor, std::size_t count, std::size_t grain,
             const std::function<void(std::size_t, std::size_t)>& body) {
  executor.parallel_for(count, grain, body);
  executor.throw_if_cancelled();
}

// docs/design/latents-statistics.md gives the reasons for the constants of this file.
void check(const SampleTable& table) {
  if (table.values.size() != table.groups.size() * table.columns)
    throw Failure(ErrorCode::usage, "expected a value for each row and column", "a table of statistics");
  if (table.groups.size() > 0xFFFF)
    throw Failure(ErrorCode::usage, "too large (the limit is 65,535 rows)", "a table of statistics",
                  "use fewer videos");
  for (const double value : table.values) {
    const double size = std::fabs(value);
    if (value == value && value != 0 && !(size >= kMinMagnitude && size <= kMaxMagnitude)) {
      throw Failure(ErrorCode::usage,
                    fmt::format("contains {}; supported are 0, NaN and magnitudes from {} to {}", value, kMinMagnitude,
                                kMaxMagnitude),
                    "a table of statistics", "scale the values, or replace this one by NaN");
    }
  }
  for (const std::uint32_t group : table.groups) {
    if (group >= table.group_count)
      throw Failure(ErrorCode::usage, "a row names a group that does not exist", "a table of statistics");
  }
}

std::vector<std::vector<std::uint32_t>> rows_by_group(const SampleTable& table) {
  std::vector<std::vector<std::uint32_t>> out(table.group_count);
  for (std::size_t row = 0; row < table.groups.size(); ++row)
    out[table.groups[row]].push_back(static_cast<std::uint32_t>(row));
  return out;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(std::size_t groups) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (std::uint32_t a = 0; a < groups; ++a)
    for (std::uint32_t b = a + 1; b < groups; ++b) out.emplace_back(a, b);
  return out;
}

}  // namespace millrace::statistics
