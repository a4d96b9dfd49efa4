// Input: values of a channel, or of one of its frames.
// Output: the number of values in each of twenty bins, and in each pair of bins of two channels.
// Never: is used outside of this folder. Never rounds an edge: a value lies in the bin that float64 puts it in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/kernels/latents/latents_steps.h"

namespace millrace::latents {

// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr std::size_t kBins = 20;

// Number of edges. A value's bin is the number of edges that it reaches.
inline constexpr std::size_t kEdges = kBins - 1;
using Edges = std::array<double, kEdges>;
// Returns the edges of bins of equal width between two values, as numpy.histogram; the last bin holds the greater
// value. A range without width is widened by 0.5 on both sides.
Edges even_edges(double low, double high);
// Returns the edges of numpy.linspace(low, high, 20), as published: the last bin holds the greatest value alone.
Edges published_edges(double low, double high);

struct ValueRange {
  double low = 0, high = 0;
};
// Returns the range of `count` values of `source` from index `at` on; all of them are finite.
ValueRange find_range(const LatentSource& source, std::size_t at, std::size_t count);

// Edges in the form in which values are compared with them. For float32 it is the smallest number that reaches the
// edge; in the order of float16 it is the number before the smallest that does.
struct Thresholds {
  explicit Thresholds(const Edges& edges);
  std::array<std::int16_t, kEdges> halves;
  std::array<float, kEdges> floats;
};

using Counts = std::array<std::uint32_t, kBins>;
Counts count_bins(const LatentSource& source, std::size_t at, std::size_t count, const Thresholds& edges);
void find_bins(const LatentSource& source, std::size_t at, std::size_t count, const Thresholds& edges,
               std::uint16_t* bins);

// Counts of pairs of bins, [20 x 20], for pairs of up to four channels: (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3).
using PairTables = std::array<std::vector<std::uint32_t>, 6>;

class PairCounter {
 public:
  PairCounter();
  void clear();
  // Adds the bins of `count` values of four channels; a missing channel has bins of 0.
  void add(const std::array<const std::uint16_t*, 4>& bins, std::size_t count);
  const PairTables& pairs() {
    empty_tables();
    return pairs_;
  }

 private:
  void empty_tables();

  // Counts of channels 0, 1, 2 together, and of 0, 1, 3: three additions per value are enough for six pairs.
  std::vector<std::uint16_t> three_, other_three_;
  std::size_t in_tables_ = 0;
  PairTables pairs_;
};

// Table of n log n for whole numbers, in nats.
class CountLogs {
 public:
  CountLogs();
  double operator()(std::uint32_t n) const;

 private:
  std::vector<double> small_;
};
// Returns the entropy of counts whose total is `total`, in nats.
double entropy_of(const Counts& counts, double total, const CountLogs& logs);
// Returns the mutual information of the two channels of a table of pairs, in bits.
double mutual_information(const std::vector<std::uint32_t>& pairs, double total, const CountLogs& logs);

}  // namespace millrace::latents
