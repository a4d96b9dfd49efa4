#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/elementary.h"
#include "src/kernels/fundus/field_bounds.h"

namespace millrace::fundus {
namespace {

// docs/design/fundus.md gives the reasons for the constants of this file.
constexpr double kJump = 0.02;  // cost of a step of the radius from angle to angle, squared
constexpr int kSteps = kRadii - kMinRadius;
constexpr std::size_t kRow = kRadii;

// Mirrors an index without repeating the end: ... 2 1 0 1 2 ...
int reflected(int at, int count) {
  if (at < 0) return -at;
  return at >= count ? 2 * (count - 1) - at : at;
}

// Blurs with a Gaussian of five steps and five angles, up to 15 away.
PolarImage blurred(const PolarImage& polar) {
  constexpr int kReach = 15;
  constexpr double kDeviation = 5;
  std::array<double, kReach + 1> weights{};
  double sum = 0;
  for (int k = 0; k <= kReach; ++k) {
    weights[static_cast<std::size_t>(k)] = exponential(-k * k / (2 * kDeviation * kDeviation));
    sum += (k > 0 ? 2 : 1) * weights[static_cast<std::size_t>(k)];
  }
  for (double& each : weights) each /= sum;
  PolarImage over(polar.size()), out(polar.size());
  for (int a = 0; a < kAngles; ++a) {
    double* to = over.data() + static_cast<std::size_t>(a) * kRow;
    const double* middle = polar.data() + static_cast<std::size_t>(a) * kRow;
    for (std::size_t r = 0; r < kRow; ++r) to[r] = weights[0] * middle[r];
    for (int k = 1; k <= kReach; ++k) {
      const double weight = weights[static_cast<std::size_t>(k)];
      const double* before = polar.data() + static_cast<std::size_t>(reflected(a - k, kAngles)) * kRow;
      const double* behind = polar.data() + static_cast<std::size_t>(reflected(a + k, kAngles)) * kRow;
      for (std::size_t r = 0; r < kRow; ++r) to[r] += weight * (before[r] + behind[r]);
    }
  }
  std::array<double, kRow + 2 * kReach> row{};
  for (std::size_t a = 0; a < kAngles; ++a) {
    for (int r = -kReach; r < kRadii + kReach; ++r)
      row[static_cast<std::size_t>(r + kReach)] = over[a * kRow + static_cast<std::size_t>(reflected(r, kRadii))];
    double* to = out.data() + a * kRow;
    for (std::size_t r = 0; r < kRow; ++r) to[r] = weights[0] * row[r + kReach];
    for (std::size_t k = 1; k <= kReach; ++k)
      for (std::size_t r = 0; r < kRow; ++r) to[r] += weights[k] * (row[r + kReach - k] + row[r + kReach + k]);
  }
  return out;
}

// Returns the rise of brightness along the radius (Sobel), weighted by how dark it is around; at the boundary it is far
// below 0.
std::vector<double> costs_of(const PolarImage& polar) {
  const PolarImage around = blurred(polar);
  std::vector<double> out(std::size_t{kAngles} * kSteps);
  for (int a = 0; a < kAngles; ++a) {
    const double* before = polar.data() + static_cast<std::size_t>(std::max(a - 1, 0)) * kRow;
    const double* here = polar.data() + static_cast<std::size_t>(a) * kRow;
    const double* behind = polar.data() + static_cast<std::size_t>(std::min(a + 1, kAngles - 1)) * kRow;
    const auto column = [&](std::size_t r) { return before[r] + 2 * here[r] + behind[r]; };
    for (std::size_t k = 0; k < kSteps; ++k) {
      const std::size_t r = k + kMinRadius;
      const double rise = column(std::min<std::size_t>(r + 1, kRow - 1)) - column(r - 1);
      out[static_cast<std::size_t>(a) * kSteps + k] = rise * (1 - around[static_cast<std::size_t>(a) * kRow + r]);
    }
  }
  return out;
}

}  // namespace

std::array<int, kAngles> find_boundary(const PolarImage& polar) {
  const std::vector<double> costs = costs_of(polar);
  // A jump that costs more than the whole range of costs is never worth it.
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  const int reach = std::min(static_cast<int>(std::sqrt((*most - *least) / kJump)) + 1, kSteps - 1);
  // Costs of the best path that ends at each angle and radius; infinite beyond the radii.
  const auto margin = static_cast<std::size_t>(reach);
  const std::size_t width = kSteps + 2 * margin;
  std::vector<double> sums(std::size_t{kAngles} * width, std::numeric_limits<double>::infinity());
  std::copy_n(costs.begin(), kSteps, sums.begin() + static_cast<std::ptrdiff_t>(margin));
  for (std::size_t a = 1; a < kAngles; ++a) {
    const double* before = sums.data() + (a - 1) * width;
    double* here = sums.data() + a * width + margin;
    for (std::size_t j = 0; j <= 2 * margin; ++j) {
      const double jump = static_cast<double>(j) - static_cast<double>(margin), price = kJump * jump * jump;
      for (std::size_t k = 0; k < kSteps; ++k) here[k] = std::min(here[k], before[k + j] + price);
    }
    for (std::size_t k = 0; k < kSteps; ++k) here[k] += costs[a * kSteps + k];
  }
  std::array<int, kAngles> out{};
  const double* end = sums.data() + (kAngles - 1) * width + margin;
  auto k = static_cast<std::size_t>(std::min_element(end, end + kSteps) - end);
  for (std::size_t a = kAngles; a-- > 0;) {
    out[a] = static_cast<int>(k) + kMinRadius;
    if (a == 0) break;
    const double* before = sums.data() + (a - 1) * width;
    double best = std::numeric_limits<double>::infinity();
    std::size_t from = k;
    for (std::size_t j = 0; j <= 2 * margin; ++j) {
      const double jump = static_cast<double>(j) - static_cast<double>(margin),
                   sum = before[k + j] + kJump * jump * jump;
      if (sum < best) {
        best = sum;
        from = k + j - margin;
      }
    }
    k = from;
  }
  return out;
}

}  // namespace millrace::fundus
