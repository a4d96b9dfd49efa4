// Input: a number for each latent and metric, and the group of each video.
// Output: for every pair of groups, metric and step: the size of the difference, and how probable it is where groups do
//   not differ.
// Never: treats the steps of one video as independent: the unit of comparison is the video.
//
// The family of tests has every pair of groups and metric: at each step, for each video's mean over its steps, and for
// its trajectory. The p-values are corrected within the family: by permutations (familywise), by Holm, and by Benjamini
// and Hochberg. A column that few of a group's videos have, such as a leftover step, is not in the family. A
// permutation of two against two often gives a huge t, which would raise every corrected p-value. Definitions:
// src/kernels/statistics/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/jobs/latents/analysis/compared_videos.h"
#include "src/kernels/statistics/bootstrap.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::latents {

// Test results for one pair of groups in one column.
struct PairTest {
  statistics::SampleComparison comparison;
  statistics::Interval bootstrap;  // interval of the difference of means: the first group less the second
  // NaN where comparison.reason says why there is no p.
  double permutation = statistics::kNoNumber, familywise = statistics::kNoNumber, holm = statistics::kNoNumber,
         benjamini_hochberg = statistics::kNoNumber;
};
struct GroupMean {
  statistics::Moments moments;
  statistics::Interval bootstrap;
};

// Seed and sizes of the random draws.
struct ResamplingOptions {
  std::uint64_t seed = 0;
  std::uint32_t permutations = kPermutations, replicates = kReplicates;
};
// Test results of a table. The comparisons that are not 0 in `in_family_flags` [pairs, columns] form one family of
// tests.
struct TestFamily {
  std::vector<PairTest> tests;   // [pairs, columns]; p is not corrected outside of the family
  std::vector<GroupMean> means;  // [groups, columns]
  std::vector<double> least;     // [pairs]: statistics::PermutationResult::least
};
// Throws Failure(usage) as statistics::check() does, and Failure(cancelled).
TestFamily test_family(const statistics::SampleTable& table, const std::vector<std::uint8_t>& in_family_flags,
                       const ResamplingOptions& resampling, const Executor& executor);

struct Analysis {
  std::vector<std::string> groups;    // names, as displayable UTF-8
  std::vector<std::size_t> videos;    // number of videos in each group
  std::vector<std::size_t> compared;  // number of these that have a number in any column
  std::vector<long long> steps;       // steps that any video has
  std::vector<long long> usual_steps;
  std::vector<std::string_view> metrics;
  std::vector<ComparisonColumn> columns;
  std::size_t over_steps = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // pairs of groups
  std::vector<PairTest> tests;                                 // [pairs, columns]
  std::vector<GroupMean> means;                                // [groups, columns]
  std::string no_tests;            // reason why no test has a p-value, for users; empty if one has
  std::vector<std::string> notes;  // messages for users: what is not compared or not corrected, and why
  // Smallest corrected p-value that any pair can reach: few videos have few permutations.
  double min_possible_p = 1;
  std::size_t not_in_family = 0;  // comparisons with a p-value that are outside of the family

  const PairTest& test(std::size_t pair, std::size_t column) const { return tests[pair * columns.size() + column]; }
  const GroupMean& mean(std::size_t group, std::size_t column) const { return means[group * columns.size() + column]; }
};

// Upper bound of the bytes that analyse_groups() holds for `columns` columns.
Bytes estimate_analysis_memory(const LatentSet& set, std::size_t columns, int threads);

// Throws Failure(cancelled) and OutOfMemory.
Analysis analyse_groups(const LatentsJobOptions& options, const LatentSet& set, const MetricTable& table,
                        RunContext& context);

// Returns a text for tables, for example "one video in a group".
const char* to_text(statistics::UntestedReason reason);

}  // namespace millrace::latents
