#include "src/kernels/statistics/multiple_testing.h"

#include <algorithm>
#include <cstddef>

namespace millrace::statistics {
namespace {

// Returns the places of p-values that are not NaN, the smallest first; equal ones keep their order.
std::vector<std::size_t> in_order(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] == p[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> out(p.begin(), p.end());
  const std::vector<std::size_t> order = in_order(p);
  double most = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    most = std::max(most, p[order[k]] * static_cast<double>(order.size() - k));
    out[order[k]] = std::min(most, 1.0);
  }
  return out;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<double> out(p.begin(), p.end());
  const std::vector<std::size_t> order = in_order(p);
  double least = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    least = std::min(least, p[order[k]] / (static_cast<double>(k + 1) / static_cast<double>(order.size())));
    out[order[k]] = least;
  }
  return out;
}

}  // namespace millrace::statistics
