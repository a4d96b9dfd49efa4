#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/fundus/bounds.h"

namespace millrace::fundus {
namespace {

constexpr double kJump = 0.02;  // the price of a step of the radius from angle to angle, squared
// Where a field of view fades out, its edge is where it ends: eyes see ratios, and so does a root.
constexpr double kExponent = 1;
constexpr int kSteps = kRadii - kLeastRadius;

using Row = std::array<double, kSteps>;

// How much brightness rises along the radius, which at the boundary is much below nothing.
std::vector<Row> costs_of(const Polar& polar) {
  std::vector<Row> out(kAngles);
  double most = 0;
  for (int a = 0; a < kAngles; ++a) {
    const float* value = polar.data() + static_cast<std::size_t>(a) * kRadii;
    for (std::size_t k = 0; k < kSteps; ++k) {
      const std::size_t r = k + kLeastRadius;
      const double ahead = value[std::min<std::size_t>(r + 1, kRadii - 1)];
      const double rise = (ahead - static_cast<double>(value[r - 1])) / 2;
      out[static_cast<std::size_t>(a)][k] = rise;
      most = std::max(most, std::abs(rise));
    }
  }
  for (Row& row : out)
    for (double& each : row) each /= std::max(most, 1e-9);
  return out;
}

}  // namespace

// Once around and once more: what the path begins with at the first angle is forgotten by then, and its second round is
// closed.
std::array<int, kAngles> boundary_of(const Polar& polar) {
  const std::vector<Row> costs = costs_of(polar);
  // A jump that costs more than the whole range of costs is never worth it.
  const int reach = static_cast<int>(std::ceil(std::sqrt(2 / kJump)));
  constexpr int kRounds = 3;
  std::vector<std::array<std::int16_t, kSteps>> from(static_cast<std::size_t>(kRounds) * kAngles);
  Row sums = costs[0], next{};
  for (std::size_t i = 1; i < from.size(); ++i) {
    const Row& cost = costs[i % kAngles];
    for (int k = 0; k < kSteps; ++k) {
      double best = std::numeric_limits<double>::infinity();
      int of = k;
      for (int j = std::max(k - reach, 0); j <= std::min(k + reach, kSteps - 1); ++j) {
        const double sum = sums[static_cast<std::size_t>(j)] + kJump * (k - j) * (k - j);
        if (sum < best) {
          best = sum;
          of = j;
        }
      }
      next[static_cast<std::size_t>(k)] = best + cost[static_cast<std::size_t>(k)];
      from[i][static_cast<std::size_t>(k)] = static_cast<std::int16_t>(of);
    }
    sums = next;
  }
  auto k = static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
  std::array<int, kAngles> out{};
  for (std::size_t i = from.size(); i-- > 0;) {
    if (i / kAngles == 1) out[i % kAngles] = static_cast<int>(k) + kLeastRadius;
    if (i > 0) k = static_cast<std::size_t>(from[i][k]);
  }
  return out;
}

}  // namespace millrace::fundus
