// Input: values of a channel, or of a frame of one.
// Output: how many lie in each of twenty bins, and in each pair of bins of two channels.
// Never: used from outside this folder. Never rounds an edge: a value lies in the bin that float64 puts it in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/kernels/latents/latents_steps.h"

namespace millrace::latents {

inline constexpr std::size_t kBins = 20;

// The number of a value's bin is how many of these it reaches.
inline constexpr std::size_t kEdges = kBins - 1;
using Edges = std::array<double, kEdges>;
// Of bins of one width between two values, the last of which holds the greater; a range without width is widened by a
// half to both sides. numpy.histogram's.
Edges even_edges(double low, double high);
// numpy.linspace(low, high, 20)'s, as published: the last bin holds the greatest value alone.
Edges published_edges(double low, double high);

struct Range {
  double low = 0, high = 0;
};
// Of `count` values of `source` from number `at` on; all of them finite.
Range range_of(const Source& source, std::size_t at, std::size_t count);

// Edges as values are compared with them: the least float32 that reaches each; in the order of float16, what comes
// before the least that does.
struct Thresholds {
  explicit Thresholds(const Edges& edges);
  std::array<std::int16_t, kEdges> halves;
  std::array<float, kEdges> floats;
};

using Counts = std::array<std::uint32_t, kBins>;
Counts count_bins(const Source& source, std::size_t at, std::size_t count, const Thresholds& edges);
void find_bins(const Source& source, std::size_t at, std::size_t count, const Thresholds& edges, std::uint16_t* bins);

// How often two channels' values are in two bins, [20 x 20], of up to four channels: (0, 1), (0, 2), (0, 3), (1, 2),
// (1, 3), (2, 3).
using PairTables = std::array<std::vector<std::uint32_t>, 6>;

class PairCounter {
 public:
  PairCounter();
  void clear();
  // The bins of as many values of four channels; a channel that is not there has bins of 0.
  void add(const std::array<const std::uint16_t*, 4>& bins, std::size_t count);
  const PairTables& pairs() {
    empty_tables();
    return pairs_;
  }

 private:
  void empty_tables();

  // Counts of channels 0, 1, 2 together, and of 0, 1, 3: three additions a value do for six pairs.
  std::vector<std::uint16_t> three_, other_three_;
  std::size_t in_tables_ = 0;
  PairTables pairs_;
};

// n log n of whole numbers, in nats.
class CountLogs {
 public:
  CountLogs();
  double operator()(std::uint32_t n) const;

 private:
  std::vector<double> small_;
};
// Of counts whose total is `total`, in nats.
double entropy_of(const Counts& counts, double total, const CountLogs& logs);
// Between the two channels of a table of pairs, in bits.
double mutual_information(const std::vector<std::uint32_t>& pairs, double total, const CountLogs& logs);

}  // namespace millrace::latents
