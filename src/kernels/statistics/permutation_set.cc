#include "src/kernels/statistics/permutation_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/kernels/statistics/random.h"

namespace millrace::statistics {
namespace {

// Returns the binomial coefficient n over k. It stops above `most`, where the exact number does not matter.
double choose(std::size_t n, std::size_t k, double most) {
  double ways = 1;
  for (std::size_t i = 1; i <= k && ways <= most; ++i)
    ways = ways * static_cast<double>(n - k + i) / static_cast<double>(i);
  return ways;
}

}  // namespace

PermutationSet::PermutationSet(std::size_t first, std::size_t second, std::uint32_t most)
    : videos_(first + second),
      chosen_(std::min(first, second)),
      first_(first),
      alike_(first == second),
      levels_{false, most} {
  if (chosen_ == 0) return;
  // Place 0 is on the stored side if both sides have the same size.
  const std::size_t fixed = alike_ ? 1 : 0;
  const double ways = choose(videos_ - fixed, chosen_ - fixed, most);
  if (ways > most) return;
  levels_ = {true, static_cast<std::size_t>(ways)};
  std::vector<std::uint16_t> places(chosen_);
  std::iota(places.begin(), places.end(), std::uint16_t{0});
  for (std::size_t number = 0; number < count(); ++number) {
    all_.insert(all_.end(), places.begin(), places.end());
    // Finds the next permutation in order: the last place that can go up does, and those behind it follow it.
    std::size_t k = chosen_;
    while (k > fixed && places[k - 1] == videos_ - chosen_ + k - 1) --k;
    if (k == fixed) break;
    ++places[k - 1];
    for (; k < chosen_; ++k) places[k] = static_cast<std::uint16_t>(places[k - 1] + 1);
  }
}

double PLevels::p_of(double unequal) const {
  const auto n = static_cast<double>(count);
  return are_all ? unequal / n : (1 + unequal) / (1 + n);
}

double PLevels::level_of(double p) const {
  if (!are_all) return p;
  const auto n = static_cast<double>(count);
  return std::floor(p * n * (1 + 1e-12)) / n;
}

void PermutationSet::observed(std::uint16_t* out) const {
  const std::size_t begin = first_ == chosen_ ? 0 : first_;
  std::iota(out, out + chosen_, static_cast<std::uint16_t>(begin));
}

void PermutationSet::put(std::uint64_t seed, std::uint32_t pair, std::uint32_t number, Scratch& scratch,
                         std::uint16_t* out) const {
  if (levels_.are_all) {
    std::copy_n(all_.begin() + static_cast<std::ptrdiff_t>(number * chosen_), chosen_, out);
    return;
  }
  RandomStream draws(seed, Purpose::permutation, pair, number);
  scratch.places.resize(videos_);
  std::iota(scratch.places.begin(), scratch.places.end(), std::uint16_t{0});
  scratch.drawn.assign(videos_, 0);
  for (std::size_t i = 0; i < chosen_; ++i) {
    const std::size_t j = i + below(static_cast<std::uint32_t>(videos_ - i), draws.next());
    std::swap(scratch.places[i], scratch.places[j]);
    scratch.drawn[scratch.places[i]] = 1;
  }
  const std::uint8_t wanted = alike_ ? scratch.drawn[0] : 1;
  for (std::size_t at = 0, k = 0; k < chosen_; ++at) {
    out[k] = static_cast<std::uint16_t>(at);
    k += scratch.drawn[at] == wanted;
  }
}

}  // namespace millrace::statistics
