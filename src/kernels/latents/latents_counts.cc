#include "src/kernels/latents/latents_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/kernels/elementary.h"
#include "src/kernels/latents/latents_half.h"

namespace millrace::latents {
namespace {

constexpr std::size_t kPairCounts = kBins * kBins, kTripleCounts = kBins * kPairCounts;
// Largest number that sixteen bits count.
constexpr std::size_t kMaxInTables = 65535;
constexpr double kLog2 = 0.69314718055994530942;

}  // namespace

Edges even_edges(double low, double high) {
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  Edges out{};
  const double step = (high - low) / static_cast<double>(kBins);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(i + 1) * step + low;
  return out;
}

Edges published_edges(double low, double high) {
  Edges out{};
  const double step = (high - low) / static_cast<double>(kBins - 1);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(i + 1) * step + low;
  // The last edge of linspace is `high` itself.
  out.back() = high;
  return out;
}

namespace {

// Returns the float16 before the smallest one at or above an edge, as its number in the order of float16.
std::int16_t before(double edge) {
  constexpr int kInfinity = 0x7C00;
  // Digits that are cut off here are corrected by the comparisons below.
  const float scaled = std::min(std::fabs(static_cast<float>(edge)) * 0x1p-112F, 0x1p-96F);
  const int size = std::min(static_cast<int>(std::bit_cast<std::uint32_t>(scaled) >> 13), kInfinity);
  int order = edge < 0 ? -size : size;
  while (order > -kInfinity && static_cast<double>(of_half_order(order - 1)) >= edge) --order;
  while (order < kInfinity && static_cast<double>(of_half_order(order)) < edge) ++order;
  return static_cast<std::int16_t>(order - 1);
}

float least_float(double edge) {
  const auto nearest = static_cast<float>(edge);
  return static_cast<double>(nearest) < edge ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                                             : nearest;
}

}  // namespace

Thresholds::Thresholds(const Edges& edges) : halves{}, floats{} {
  std::transform(edges.begin(), edges.end(), halves.begin(), before);
  std::transform(edges.begin(), edges.end(), floats.begin(), least_float);
}

PairCounter::PairCounter() : three_(kTripleCounts), other_three_(kTripleCounts) {
  for (auto& pair : pairs_) pair.resize(kPairCounts);
}

void PairCounter::clear() {
  std::fill(three_.begin(), three_.end(), std::uint16_t{0});
  std::fill(other_three_.begin(), other_three_.end(), std::uint16_t{0});
  in_tables_ = 0;
  for (auto& pair : pairs_) std::fill(pair.begin(), pair.end(), 0);
}

void PairCounter::add(const std::array<const std::uint16_t*, 4>& bins, std::size_t count) {
  constexpr std::size_t kChunk = 1024;
  std::array<std::uint16_t, kChunk> first, second, third;
  std::uint16_t *const three = three_.data(), *const other_three = other_three_.data();
  std::uint32_t* const last = pairs_[5].data();
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t some = std::min(kChunk, count - begin);
    if (in_tables_ + some > kMaxInTables) empty_tables();
    in_tables_ += some;
    const std::uint16_t *const a = bins[0] + begin, *const b = bins[1] + begin, *const c = bins[2] + begin,
                               *const d = bins[3] + begin;
    for (std::size_t i = 0; i < some; ++i) {
      const int ab = (a[i] * 20 + b[i]) * 20;
      first[i] = static_cast<std::uint16_t>(ab + c[i]);
      second[i] = static_cast<std::uint16_t>(ab + d[i]);
      third[i] = static_cast<std::uint16_t>(c[i] * 20 + d[i]);
    }
    for (std::size_t i = 0; i < some; ++i) {
      ++three[first[i]];
      ++other_three[second[i]];
      ++last[third[i]];
    }
  }
}

void PairCounter::empty_tables() {
  for (std::size_t a = 0; a < kBins; ++a) {
    for (std::size_t b = 0; b < kBins; ++b) {
      std::uint16_t* const three = three_.data() + (a * kBins + b) * kBins;
      std::uint16_t* const other = other_three_.data() + (a * kBins + b) * kBins;
      // Rows are added one at a time and do not overlap, so that they are added in vectors.
      const auto add_to = [](std::uint32_t* to, const std::uint16_t* from) {
        for (std::size_t c = 0; c < kBins; ++c) to[c] += from[c];
      };
      pairs_[0][a * kBins + b] += std::accumulate(three, three + kBins, std::uint32_t{0});
      add_to(pairs_[1].data() + a * kBins, three);
      add_to(pairs_[2].data() + a * kBins, other);
      add_to(pairs_[3].data() + b * kBins, three);
      add_to(pairs_[4].data() + b * kBins, other);
      std::fill_n(three, kBins, std::uint16_t{0});
      std::fill_n(other, kBins, std::uint16_t{0});
    }
  }
  in_tables_ = 0;
}

CountLogs::CountLogs() : small_(8192) {
  for (std::size_t n = 1; n < small_.size(); ++n)
    small_[n] = static_cast<double>(n) * logarithm(static_cast<double>(n));
}

double CountLogs::operator()(std::uint32_t n) const {
  return n < small_.size() ? small_[n] : n * logarithm(static_cast<double>(n));
}

double entropy_of(const Counts& counts, double total, const CountLogs& logs) {
  double sum = 0;
  for (const std::uint32_t n : counts) sum += logs(n);
  return std::max(0.0, logarithm(total) - sum / total);
}

double mutual_information(const std::vector<std::uint32_t>& pairs, double total, const CountLogs& logs) {
  Counts rows{}, columns{};
  double sum = 0;
  for (std::size_t a = 0; a < kBins; ++a) {
    for (std::size_t b = 0; b < kBins; ++b) {
      const std::uint32_t n = pairs[a * kBins + b];
      rows[a] += n;
      columns[b] += n;
      sum += logs(n);
    }
  }
  for (std::size_t a = 0; a < kBins; ++a) sum -= logs(rows[a]) + logs(columns[a]);
  return (sum / total + logarithm(total)) / kLog2;
}

}  // namespace millrace::latents
