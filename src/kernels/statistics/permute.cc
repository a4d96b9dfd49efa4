#include "src/kernels/statistics/permute.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/base/error.h"
#include "src/base/mutex.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/permutation_set.h"
#include "src/kernels/statistics/permute_steps.h"
#include "src/memory/buffer.h"

namespace millrace::statistics {
namespace {

// Number of permutations that are processed together: then a block's values and maxima stay in L1.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr std::size_t kAtOnce = 128;
constexpr double kMargin = 1e-12;

// Returns the t^2 from which on a split is as unequal as one with `t2`.
double threshold_of(double t2) {
  const double t = std::sqrt(t2) * (1 - kMargin) - kMargin;
  return t > 0 ? t * t : 0;
}

struct OwnBlock {
  PermutationBlock block;
  bool in_family = false;
  std::vector<std::size_t> columns;  // at most kBlock
  std::vector<double> sums, thresholds, counts;
  Buffer<double> values;
};

// Scale of the pair's videos in a column: their mean, and a power of two below which differences from it lie.
struct Scale {
  double mean = 0;
  int exponent = 0;
};
Scale scale_of(const SampleTable& table, const std::vector<std::uint32_t>& rows, std::size_t column) {
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

void fill(OwnBlock& own, const SampleTable& table, const std::vector<std::uint32_t>& rows) {
  const std::size_t layers = layers_of(own.block.kind), stride = layers * kBlock;
  own.values.resize(rows.size() * stride);
  own.sums.assign(3 * kBlock, 0);
  own.counts.assign(kBlock, 0);
  own.thresholds.assign(kBlock, 0);
  for (std::size_t k = 0; k < kBlock; ++k) {
    // Unused lanes of the last block repeat its last column.
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

// Returns the columns of a pair that have a p: those of the family first, and those without missing values before those
// with.
std::vector<OwnBlock> blocks_of(const SampleTable& table, std::span<const std::uint8_t> family,
                                std::span<const UntestedReason> reasons, const std::vector<std::uint32_t>& rows,
                                const PermutationSet& permutations) {
  std::vector<OwnBlock> out;
  std::vector<std::uint8_t> holes(table.columns, 0);
  for (const std::uint32_t row : rows)
    for (std::size_t c = 0; c < table.columns; ++c) holes[c] |= table.at(row, c) != table.at(row, c);
  const BlockKind whole = 2 * permutations.chosen() == permutations.videos() ? BlockKind::balanced : BlockKind::full;
  for (const bool in_family : {true, false}) {
    for (const bool with_holes : {false, true}) {
      bool fresh = true;
      for (std::size_t c = 0; c < table.columns; ++c) {
        if (reasons[c] != UntestedReason::none || (family[c] != 0) != in_family || (holes[c] != 0) != with_holes)
          continue;
        if (fresh || out.back().columns.size() == kBlock) {
          out.emplace_back();
          out.back().in_family = in_family;
          out.back().block.kind = with_holes ? BlockKind::holes : whole;
          out.back().block.chosen = permutations.chosen();
          out.back().block.others = permutations.videos() - permutations.chosen();
        }
        fresh = false;
        out.back().columns.push_back(c);
      }
    }
  }
  return out;
}

// Buffers of one thread.
struct ThreadScratch {
  PermutationSet::Scratch dealing;
  std::vector<std::uint16_t> permutations;
  std::vector<double> counts;
  Buffer<double> most, unused;
};

// Adds to each block's `counts`, column by column, the permutations that are as unequal as the observed split. Returns
// the greatest t^2 of each permutation over the family, sorted.
std::vector<double> count_permutations(std::vector<OwnBlock>& blocks, const PermutationSet& permutations,
                                       std::uint64_t seed, std::uint32_t pair, const Executor& executor) {
  std::vector<double> most(permutations.count(), 0);
  Mutex merging;
  for_all(executor, (permutations.count() + kAtOnce - 1) / kAtOnce, 1, [&](std::size_t begin, std::size_t end) {
    ThreadScratch scratch;
    scratch.counts.assign(blocks.size() * kBlock, 0);
    scratch.permutations.resize(kAtOnce * permutations.chosen());
    scratch.most.resize(kAtOnce * kBlock);
    scratch.unused.resize(kAtOnce * kBlock);
    std::fill(scratch.unused.begin(), scratch.unused.end(), 0.0);
    for (std::size_t chunk = begin; chunk < end; ++chunk) {
      const std::size_t from = chunk * kAtOnce, count = std::min(kAtOnce, permutations.count() - from);
      for (std::size_t k = 0; k < count; ++k)
        permutations.put(seed, pair, static_cast<std::uint32_t>(from + k), scratch.dealing,
                         scratch.permutations.data() + k * permutations.chosen());
      std::fill(scratch.most.begin(), scratch.most.end(), 0.0);
      for (std::size_t k = 0; k < blocks.size(); ++k)
        permute_block(blocks[k].block, scratch.permutations.data(), count, scratch.counts.data() + k * kBlock,
                      blocks[k].in_family ? scratch.most.data() : scratch.unused.data());
      for (std::size_t k = 0; k < count; ++k)
        most[from + k] = *std::max_element(scratch.most.begin() + static_cast<std::ptrdiff_t>(k * kBlock),
                                           scratch.most.begin() + static_cast<std::ptrdiff_t>((k + 1) * kBlock));
    }
    const MutexLock lock(merging);
    for (std::size_t k = 0; k < blocks.size(); ++k)
      for (std::size_t lane = 0; lane < kBlock; ++lane) blocks[k].counts[lane] += scratch.counts[k * kBlock + lane];
  });
  std::sort(most.begin(), most.end());
  return most;
}

// Pairs of a family, by the p-values that they can have.
class PairsOfFamily {
 public:
  void add(const PLevels& levels) {
    for (auto& [known, count] : kinds_) {
      if (known != levels) continue;
      ++count;
      return;
    }
    kinds_.emplace_back(levels, 1);
  }
  // Returns the probability that any pair has a p of at most `p`. One pair, with the levels `of_pair`, has this p.
  double any(double p, const PLevels& of_pair) const {
    double none = 1;
    for (const auto& [levels, count] : kinds_)
      for (std::size_t k = levels == of_pair ? 1 : 0; k < count; ++k) none *= 1 - levels.level_of(p);
    return p + (1 - p) * (1 - none);
  }

 private:
  std::vector<std::pair<PLevels, std::size_t>> kinds_;
};

}  // namespace

PermutationResult permute(const SampleTable& table, std::span<const std::uint8_t> family, std::uint64_t seed,
                          std::uint32_t most, const Executor& executor) {
  check(table);
  const auto rows_of = rows_by_group(table);
  const auto pairs = pairs_of(table.group_count);
  const std::size_t columns = table.columns;
  if (family.size() != pairs.size() * columns)
    throw Failure(ErrorCode::usage, "expected one entry for each comparison", "the family");
  PermutationResult out;
  out.raw.assign(pairs.size() * columns, kNoNumber);
  out.familywise = out.raw;
  out.reason.assign(pairs.size() * columns, UntestedReason::none);
  out.least.assign(pairs.size(), 1);

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

  PairsOfFamily of_family;
  std::vector<std::optional<PLevels>> levels(pairs.size());  // levels of pairs of the family
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto [a, b] = pairs[pair];
    const std::span<UntestedReason> reasons = std::span(out.reason).subspan(pair * columns, columns);
    for (std::size_t c = 0; c < columns; ++c)
      reasons[c] = find_untested_reason(moments[a * columns + c], moments[b * columns + c]);
    std::vector<std::uint32_t> rows = rows_of[a];
    rows.insert(rows.end(), rows_of[b].begin(), rows_of[b].end());
    const PermutationSet permutations(rows_of[a].size(), rows_of[b].size(), most);
    std::vector<OwnBlock> blocks =
        blocks_of(table, family.subspan(pair * columns, columns), reasons, rows, permutations);
    if (blocks.empty()) continue;

    for_all(executor, blocks.size(), 1, [&](std::size_t begin, std::size_t end) {
      std::vector<std::uint16_t> observed(permutations.chosen());
      permutations.observed(observed.data());
      std::array<double, kBlock> unused{};
      for (std::size_t k = begin; k < end; ++k) {
        fill(blocks[k], table, rows);
        std::array<double, kBlock> t2{};
        permute_block(blocks[k].block, observed.data(), 1, unused.data(), t2.data());
        for (std::size_t lane = 0; lane < kBlock; ++lane) blocks[k].thresholds[lane] = threshold_of(t2[lane]);
      }
    });
    const std::vector<double> greatest =
        count_permutations(blocks, permutations, seed, static_cast<std::uint32_t>(pair), executor);
    if (blocks.front().in_family) {
      of_family.add(permutations.levels());
      levels[pair] = permutations.levels();
    }
    for (const OwnBlock& own : blocks) {
      for (std::size_t lane = 0; lane < own.columns.size(); ++lane) {
        const std::size_t at = pair * columns + own.columns[lane];
        out.raw[at] = permutations.levels().p_of(own.counts[lane]);
        const auto reached = greatest.end() - std::lower_bound(greatest.begin(), greatest.end(), own.thresholds[lane]);
        if (own.in_family) out.familywise[at] = permutations.levels().p_of(static_cast<double>(reached));
      }
    }
  }

  for_all(executor, pairs.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t pair = begin; pair < end; ++pair) {
      if (!levels[pair]) continue;
      out.least[pair] = of_family.any(levels[pair]->min_p(), *levels[pair]);
      for (std::size_t at = pair * columns; at < (pair + 1) * columns; ++at) {
        double& p = out.familywise[at];
        if (p == p) p = of_family.any(p, *levels[pair]);
      }
    }
  });
  return out;
}

}  // namespace millrace::statistics
