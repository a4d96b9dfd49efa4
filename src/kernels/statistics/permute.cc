#include "src/kernels/statistics/permute.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "src/base/error.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/permute_steps.h"
#include "src/kernels/statistics/random.h"
#include "src/memory/buffer.h"

namespace millrace::statistics {
namespace {

// Shuffles that are dealt at once: with them a block's values and maxima stay in L1.
constexpr std::size_t kAtOnce = 128;
constexpr double kMargin = 1e-12;

// t^2 from which on a split is as unequal as one with `t2`.
double threshold_of(double t2) {
  const double t = std::sqrt(t2) * (1 - kMargin) - kMargin;
  return t > 0 ? t * t : 0;
}

// Deals the videos of a pair into two sides.
class Dealer {
 public:
  Dealer(std::size_t first, std::size_t second)
      : videos_(first + second), chosen_(std::min(first, second)), alike_(first == second), first_(first) {}

  std::size_t videos() const { return videos_; }
  std::size_t chosen() const { return chosen_; }

  // The side that the smaller group is, in order.
  void observed(std::uint16_t* out) const {
    const std::size_t begin = first_ == chosen_ ? 0 : first_;
    std::iota(out, out + chosen_, static_cast<std::uint16_t>(begin));
  }

  // In order, so that the same split has the same sums; of two sides alike that of place 0, for the same reason.
  void deal(Draws draws, std::vector<std::uint16_t>& places, std::vector<std::uint8_t>& drawn,
            std::uint16_t* out) const {
    places.resize(videos_);
    std::iota(places.begin(), places.end(), std::uint16_t{0});
    drawn.assign(videos_, 0);
    for (std::size_t i = 0; i < chosen_; ++i) {
      const std::size_t j = i + below(static_cast<std::uint32_t>(videos_ - i), draws.next());
      std::swap(places[i], places[j]);
      drawn[places[i]] = 1;
    }
    const std::uint8_t wanted = alike_ ? drawn[0] : 1;
    for (std::size_t at = 0, k = 0; k < chosen_; ++at) {
      out[k] = static_cast<std::uint16_t>(at);
      k += drawn[at] == wanted;
    }
  }

 private:
  std::size_t videos_, chosen_;
  bool alike_;
  std::size_t first_;
};

struct OwnBlock {
  Block block;
  bool in_family = false;
  std::vector<std::size_t> columns;  // at most kBlock
  std::vector<double> sums, thresholds, counts;
  Buffer<double> values;
};

// What the pair's videos hold in a column: the mean, and a power of two below which differences from it lie.
struct Scale {
  double mean = 0;
  int exponent = 0;
};
Scale scale_of(const Table& table, const std::vector<std::uint32_t>& rows, std::size_t column) {
  double sum = 0, count = 0, most = 0;
  for (const std::uint32_t row : rows) {
    const double value = table.at(row, column);
    if (value != value) continue;
    sum += value;
    ++count;
  }
  Scale out{sum / count, 0};
  for (const std::uint32_t row : rows) most = std::max(most, std::fabs(table.at(row, column) - out.mean));
  std::frexp(most, &out.exponent);
  return out;
}

void fill(OwnBlock& own, const Table& table, const std::vector<std::uint32_t>& rows) {
  const std::size_t layers = layers_of(own.block.kind), stride = layers * kBlock;
  own.values.resize(rows.size() * stride);
  own.sums.assign(3 * kBlock, 0);
  own.counts.assign(kBlock, 0);
  own.thresholds.assign(kBlock, 0);
  for (std::size_t k = 0; k < kBlock; ++k) {
    // What is left of the last block's lanes repeats its last column.
    const std::size_t column = own.columns[std::min(k, own.columns.size() - 1)];
    const Scale scale = scale_of(table, rows, column);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double value = table.at(rows[i], column);
      const bool there = value == value;
      const double y = there ? std::ldexp(value - scale.mean, -scale.exponent) : 0;
      const double of[] = {y, y * y, there ? 1.0 : 0.0};
      for (std::size_t layer = 0; layer < 3; ++layer) {
        own.sums[layer * kBlock + k] += of[layer];
        if (layer < layers) own.values[i * stride + layer * kBlock + k] = of[layer];
      }
    }
  }
  own.block.values = own.values.data();
  own.block.sums = own.sums.data();
  own.block.thresholds = own.thresholds.data();
}

// Columns of a pair that have a p: those of the family first, those without holes before those with.
std::vector<OwnBlock> blocks_of(const Table& table, std::span<const std::uint8_t> family,
                                std::span<const Reason> reasons, const std::vector<std::uint32_t>& rows,
                                const Dealer& dealer) {
  std::vector<OwnBlock> out;
  std::vector<std::uint8_t> holes(table.columns, 0);
  for (const std::uint32_t row : rows)
    for (std::size_t c = 0; c < table.columns; ++c) holes[c] |= table.at(row, c) != table.at(row, c);
  const Kind whole = 2 * dealer.chosen() == dealer.videos() ? Kind::balanced : Kind::full;
  for (const bool in_family : {true, false}) {
    for (const bool with_holes : {false, true}) {
      bool fresh = true;
      for (std::size_t c = 0; c < table.columns; ++c) {
        if (reasons[c] != Reason::none || (family[c] != 0) != in_family || (holes[c] != 0) != with_holes) continue;
        if (fresh || out.back().columns.size() == kBlock) {
          out.emplace_back();
          out.back().in_family = in_family;
          out.back().block.kind = with_holes ? Kind::holes : whole;
          out.back().block.chosen = dealer.chosen();
          out.back().block.others = dealer.videos() - dealer.chosen();
        }
        fresh = false;
        out.back().columns.push_back(c);
      }
    }
  }
  return out;
}

// One thread's.
struct Scratch {
  std::vector<std::uint16_t> places, shuffles;
  std::vector<std::uint8_t> drawn;
  std::vector<double> counts;
  Buffer<double> most, unused;
};

}  // namespace

Permutations permute(const Table& table, std::span<const std::uint8_t> family, std::uint64_t seed,
                     std::uint32_t shuffles, const Executor& executor) {
  check(table);
  if (family.size() != table.columns)
    throw Failure(ErrorCode::usage, "says of another number of columns whether they belong to it", "the family");
  const auto rows_of = rows_by_group(table);
  const auto pairs = pairs_of(table.group_count);
  const std::size_t columns = table.columns;
  Permutations out;
  out.raw.assign(pairs.size() * columns, kNoNumber);
  out.familywise = out.raw;
  out.reason.assign(pairs.size() * columns, Reason::none);

  std::vector<Moments> moments(table.group_count * columns);
  for_all(executor, columns, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<double> sample;
    for (std::size_t c = begin; c < end; ++c) {
      for (std::size_t g = 0; g < rows_of.size(); ++g) {
        sample.clear();
        for (const std::uint32_t row : rows_of[g]) sample.push_back(table.at(row, c));
        moments[g * columns + c] = moments_of(sample);
      }
    }
  });

  std::vector<double> most(shuffles, 0);  // t^2 over the family and all pairs
  std::vector<double> thresholds(pairs.size() * columns, kNoNumber);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto [a, b] = pairs[pair];
    const std::span<Reason> reasons = std::span(out.reason).subspan(pair * columns, columns);
    for (std::size_t c = 0; c < columns; ++c)
      reasons[c] = reason_between(moments[a * columns + c], moments[b * columns + c]);
    std::vector<std::uint32_t> rows = rows_of[a];
    rows.insert(rows.end(), rows_of[b].begin(), rows_of[b].end());
    const Dealer dealer(rows_of[a].size(), rows_of[b].size());
    std::vector<OwnBlock> blocks = blocks_of(table, family, reasons, rows, dealer);
    if (blocks.empty()) continue;

    for_all(executor, blocks.size(), 1, [&](std::size_t begin, std::size_t end) {
      std::vector<std::uint16_t> observed(dealer.chosen());
      dealer.observed(observed.data());
      std::array<double, kBlock> unused{};
      for (std::size_t k = begin; k < end; ++k) {
        fill(blocks[k], table, rows);
        std::array<double, kBlock> t2{};
        permute_block(blocks[k].block, observed.data(), 1, unused.data(), t2.data());
        for (std::size_t lane = 0; lane < kBlock; ++lane) blocks[k].thresholds[lane] = threshold_of(t2[lane]);
      }
    });

    std::mutex merging;
    for_all(executor, (shuffles + kAtOnce - 1) / kAtOnce, 1, [&](std::size_t begin, std::size_t end) {
      Scratch scratch;
      scratch.counts.assign(blocks.size() * kBlock, 0);
      scratch.shuffles.resize(kAtOnce * dealer.chosen());
      scratch.most.resize(kAtOnce * kBlock);
      scratch.unused.resize(kAtOnce * kBlock);
      std::fill(scratch.unused.begin(), scratch.unused.end(), 0.0);
      for (std::size_t chunk = begin; chunk < end; ++chunk) {
        const std::size_t from = chunk * kAtOnce, count = std::min(kAtOnce, shuffles - from);
        for (std::size_t s = 0; s < count; ++s) {
          const Draws draws(seed, Purpose::permutation, static_cast<std::uint32_t>(pair),
                            static_cast<std::uint32_t>(from + s));
          dealer.deal(draws, scratch.places, scratch.drawn, scratch.shuffles.data() + s * dealer.chosen());
        }
        std::fill(scratch.most.begin(), scratch.most.end(), 0.0);
        for (std::size_t k = 0; k < blocks.size(); ++k)
          permute_block(blocks[k].block, scratch.shuffles.data(), count, scratch.counts.data() + k * kBlock,
                        blocks[k].in_family ? scratch.most.data() : scratch.unused.data());
        for (std::size_t s = 0; s < count; ++s)
          for (std::size_t lane = 0; lane < kBlock; ++lane)
            most[from + s] = std::max(most[from + s], scratch.most[s * kBlock + lane]);
      }
      const std::lock_guard lock(merging);
      for (std::size_t k = 0; k < blocks.size(); ++k)
        for (std::size_t lane = 0; lane < kBlock; ++lane) blocks[k].counts[lane] += scratch.counts[k * kBlock + lane];
    });

    for (const OwnBlock& own : blocks) {
      for (std::size_t lane = 0; lane < own.columns.size(); ++lane) {
        const std::size_t at = pair * columns + own.columns[lane];
        out.raw[at] = (1 + own.counts[lane]) / (1 + static_cast<double>(shuffles));
        if (own.in_family) thresholds[at] = own.thresholds[lane];
      }
    }
  }

  std::sort(most.begin(), most.end());
  for (std::size_t at = 0; at < thresholds.size(); ++at) {
    if (thresholds[at] != thresholds[at]) continue;
    const auto reached = most.end() - std::lower_bound(most.begin(), most.end(), thresholds[at]);
    out.familywise[at] = (1 + static_cast<double>(reached)) / (1 + static_cast<double>(shuffles));
  }
  return out;
}

}  // namespace millrace::statistics
