// Input: the one number a latent and metric, and which group each video is of.
// Output: for every pair of groups, metric and step, how much they differ and how probable that is where nothing does.
// Never: takes the steps of one video for independent: what is compared are videos.
//
// One family of tests: every pair of groups and metric, at each step, and of each video's mean over its steps and its
// trajectory. p is corrected within it: by permutations (familywise), by Holm and by Benjamini and Hochberg. What few
// of a group's videos have, as a step that is left over, does not belong to it: a deal of two against two often gives a
// huge t, which would raise the corrected p of everything. Definitions: src/kernels/statistics/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/jobs/latents/analysis/compared.h"
#include "src/kernels/statistics/bootstrap.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::latents {

// One pair of groups in one column.
struct PairTest {
  statistics::Comparison comparison;
  statistics::Interval bootstrap;  // of the difference of means, the first group's less the second's
  // NaN where comparison.reason says why there is no p.
  double permutation = statistics::kNoNumber, familywise = statistics::kNoNumber, holm = statistics::kNoNumber,
         benjamini_hochberg = statistics::kNoNumber;
};
struct GroupMean {
  statistics::Moments moments;
  statistics::Interval bootstrap;
};

// What random numbers are drawn for.
struct Drawn {
  std::uint64_t seed = 0;
  std::uint32_t shuffles = kShuffles, replicates = kReplicates;
};
// The comparisons of a table that `belongs` [pairs, columns] says so of are one family of tests.
struct Family {
  std::vector<PairTest> tests;   // [pairs, columns]; of one that does not belong to it p is not corrected
  std::vector<GroupMean> means;  // [groups, columns]
  std::vector<double> least;     // [pairs]: statistics::Permutations::least
};
// Failure(usage) as statistics::check(). Failure(cancelled).
Family test_family(const statistics::Table& table, const std::vector<std::uint8_t>& belongs, const Drawn& drawn,
                   const Executor& executor);

struct Analysis {
  std::vector<std::string> groups;    // as text
  std::vector<std::size_t> videos;    // of each group
  std::vector<std::size_t> compared;  // of these, those that have a number in any column
  std::vector<long long> steps;       // that any video has
  std::vector<long long> usual_steps;
  std::vector<std::string_view> metrics;
  std::vector<Column> columns;
  std::size_t over_steps = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // of groups
  std::vector<PairTest> tests;                                 // [pairs, columns]
  std::vector<GroupMean> means;                                // [groups, columns]
  std::string no_tests;                                        // why there is not one p, for a person; else empty
  std::vector<std::string> notes;                              // what is not compared, or not corrected, and why
  // The least corrected p that any pair can have: few videos can be dealt in few ways.
  double least_possible = 1;
  std::size_t not_in_family = 0;  // comparisons

  const PairTest& test(std::size_t pair, std::size_t column) const { return tests[pair * columns.size() + column]; }
  const GroupMean& mean(std::size_t group, std::size_t column) const { return means[group * columns.size() + column]; }
};

// What it holds at most, for so many columns.
Bytes analysis_memory(const LatentSet& set, std::size_t columns, int threads);

// Failure(cancelled); OutOfMemory.
Analysis analyse(const Options& options, const LatentSet& set, const MetricTable& table, RunContext& context);

// "one video in a group": for tables.
const char* words_of(statistics::Reason reason);

}  // namespace millrace::latents
