// Tables of videos for tests.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

struct TestTable {
  std::vector<double> values;
  std::vector<std::uint32_t> groups;
  std::size_t columns = 0, group_count = 0;

  SampleTable table() const { return {values, groups, columns, group_count}; }
  double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  std::vector<double> sample(std::uint32_t group, std::size_t column) const {
    std::vector<double> out;
    for (std::size_t row = 0; row < groups.size(); ++row)
      if (groups[row] == group) out.push_back(table().at(row, column));
    return out;
  }
};

// Makes groups of these sizes, their rows mixed. Numbers are about 0 to 1; about every `hole`-th one is absent, or none
// for 0.
inline TestTable random_table(const std::vector<std::size_t>& sizes, std::size_t columns, unsigned seed, int hole = 0) {
  std::mt19937 random(seed);
  TestTable out{{}, {}, columns, sizes.size()};
  for (std::uint32_t g = 0; g < sizes.size(); ++g) out.groups.insert(out.groups.end(), sizes[g], g);
  for (std::size_t i = out.groups.size(); i > 1; --i) std::swap(out.groups[i - 1], out.groups[random() % i]);
  for (std::size_t i = 0; i < out.groups.size() * columns; ++i) {
    const double value = static_cast<double>(random()) * 0x1p-32;
    out.values.push_back(hole > 0 && random() % static_cast<unsigned>(hole) == 0 ? std::nan("") : value);
  }
  return out;
}

}  // namespace millrace::statistics
