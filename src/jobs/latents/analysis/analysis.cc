#include "src/jobs/latents/analysis/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "src/base/text.h"
#include "src/kernels/statistics/multiple_testing.h"
#include "src/kernels/statistics/permute.h"

namespace millrace::latents {
namespace {

// Returns [pairs, columns]: 1 where at least half of the videos of both groups have a number in the column.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
std::vector<std::uint8_t> find_family_members(const statistics::SampleTable& table) {
  const auto rows_of = statistics::rows_by_group(table);
  std::vector<std::size_t> counts(rows_of.size() * table.columns);  // [groups, columns]
  for (std::size_t row = 0; row < table.groups.size(); ++row)
    for (std::size_t c = 0; c < table.columns; ++c)
      counts[table.groups[row] * table.columns + c] += table.at(row, c) == table.at(row, c) ? 1 : 0;
  const auto usual = [&](std::size_t group, std::size_t column) {
    return 2 * counts[group * table.columns + column] >= rows_of[group].size();
  };
  std::vector<std::uint8_t> out;
  for (const auto& [a, b] : statistics::pairs_of(table.group_count))
    for (std::size_t c = 0; c < table.columns; ++c) out.push_back(usual(a, c) && usual(b, c) ? 1 : 0);
  return out;
}

std::string explain_no_tests(const Analysis& analysis) {
  if (analysis.groups.size() < 2) return "there is only one group, and nothing to compare it with";
  if (analysis.columns.empty()) return "no metric was selected, or none is defined for these latents";
  const auto enough = [](const std::vector<std::size_t>& videos) {
    return std::count_if(videos.begin(), videos.end(), [](std::size_t n) { return n > 1; }) >= 2;
  };
  if (enough(analysis.compared)) return "";
  if (enough(analysis.videos)) return "fewer than two groups have two videos that can be compared; the notes say why";
  return "a p-value needs at least two groups with two videos each: a single video shows no spread";
}

// Adds the notes that a reader needs to judge the family's tests.
void add_notes(const TestFamily& family, Analysis& out) {
  const auto few = static_cast<std::size_t>(
      std::count_if(family.least.begin(), family.least.end(), [](double p) { return p > kAlpha; }));
  if (out.no_tests.empty() && few > 0 && few < out.pairs.size()) {
    out.notes.push_back(fmt::format(
        "{} of {} pairs of groups have too few videos: no difference between the two can be detected, however large",
        group_digits(few), group_digits(out.pairs.size())));
  }
  std::size_t apart = 0;
  const PairTest* example = nullptr;
  std::size_t example_at = 0;
  for (std::size_t i = 0; i < out.tests.size(); ++i) {
    const auto& [a, b] = out.tests[i].comparison.moments;
    if (out.tests[i].comparison.reason != statistics::UntestedReason::no_variance || a.mean == b.mean) continue;
    if (++apart > 1) continue;
    example = &out.tests[i];
    example_at = i % out.columns.size();
  }
  if (example != nullptr) {
    const auto& [a, b] = example->comparison.moments;
    out.notes.push_back(
        fmt::format("{} not tested: in both groups all videos have the same value, so there is no spread; for example, "
                    "{} is {} in one group and {} in the other",
                    apart == 1 ? "1 comparison was" : group_digits(apart) + " comparisons were",
                    out.metrics[out.columns[example_at].metric], a.mean, b.mean));
  }
  if (out.not_in_family > 0) {
    out.notes.push_back(
        fmt::format("{} of {} comparisons use a step or metric that fewer than half of a group's videos have: their "
                    "p-values are not corrected, and no difference is reported",
                    group_digits(out.not_in_family), group_digits(out.tests.size())));
  }
}

}  // namespace

TestFamily test_family(const statistics::SampleTable& table, const std::vector<std::uint8_t>& in_family_flags,
                       const ResamplingOptions& resampling, const Executor& executor) {
  statistics::check(table);
  const auto rows = statistics::rows_by_group(table);
  const auto pairs = statistics::pairs_of(table.group_count);
  const std::size_t columns = table.columns;
  const auto sample = [&](std::size_t group, std::size_t column) {
    std::vector<double> out;
    for (const std::uint32_t row : rows[group]) out.push_back(table.at(row, column));
    return out;
  };
  TestFamily out;
  out.tests.resize(pairs.size() * columns);
  out.means.resize(rows.size() * columns);
  out.least.assign(pairs.size(), 1);
  if (columns == 0) return out;
  statistics::for_all(executor, out.tests.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto [a, b] = pairs[i / columns];
      out.tests[i].comparison = statistics::compare(sample(a, i % columns), sample(b, i % columns));
    }
  });
  for (std::size_t i = 0; i < out.means.size(); ++i)
    out.means[i].moments = statistics::moments_of(sample(i / columns, i % columns));
  const auto permuted = statistics::permute(table, in_family_flags, resampling.seed, resampling.permutations, executor);
  const auto intervals = statistics::bootstrap(table, resampling.seed, resampling.replicates, executor);
  std::vector<double> p;
  for (std::size_t i = 0; i < out.tests.size(); ++i)
    p.push_back(in_family_flags[i] != 0 ? out.tests[i].comparison.p : statistics::kNoNumber);
  const std::vector<double> holm = statistics::holm(p), benjamini = statistics::benjamini_hochberg(p);
  for (std::size_t i = 0; i < out.tests.size(); ++i) {
    out.tests[i].permutation = permuted.raw[i];
    out.tests[i].familywise = permuted.familywise[i];
    out.tests[i].bootstrap = intervals.differences[i];
    out.tests[i].holm = holm[i];
    out.tests[i].benjamini_hochberg = benjamini[i];
  }
  for (std::size_t i = 0; i < out.means.size(); ++i) out.means[i].bootstrap = intervals.means[i];
  out.least = permuted.least;
  return out;
}

const char* to_text(statistics::UntestedReason reason) {
  switch (reason) {
    case statistics::UntestedReason::none:
      return "";
    case statistics::UntestedReason::too_few:
      return "one video in a group";
    case statistics::UntestedReason::no_variance:
      return "both groups constant";
    case statistics::UntestedReason::absent:
      return "no value in a group";
  }
  return "";
}

Bytes estimate_analysis_memory(const LatentSet& set, std::size_t columns, int threads) {
  const std::uint64_t videos = set.videos.size(), groups = set.groups(), pairs = groups * (groups - 1) / 2;
  constexpr std::uint64_t kPermutationsAtOnce = 128, kLanes = 16;  // src/kernels/statistics/permute.cc
  // Bytes per permutation: the greatest t^2, and the videos of one side where all permutations are stored.
  constexpr std::uint64_t kPermutationBytes = 8 + 2 * 8;
  // Terms, in order: the numbers of all latents; the numbers of all videos, twice; tests and means; the family flags.
  // Each replicate holds a word per video, and per thread a mean per group for the columns that are processed together.
  // Each permutation holds a maximum; those in progress on a thread also hold their videos and two rows of lanes.
  return Bytes{8 * set.files.size() * (columns / std::max<std::uint64_t>(1, set.steps().size()) + 1) +
               2 * 8 * videos * columns + columns * (pairs * sizeof(PairTest) + groups * sizeof(GroupMean)) +
               columns * pairs + kReplicates * (4 * videos + 64 * groups * static_cast<std::uint64_t>(threads)) +
               kPermutationBytes * kPermutations +
               kPermutationsAtOnce * (2 * videos + 2 * 8 * kLanes) * static_cast<std::uint64_t>(threads)};
}

Analysis analyse_groups(const LatentsJobOptions& options, const LatentSet& set, const MetricTable& table,
                        RunContext& context) {
  Analysis out;
  const Reservation reservation = context.budget.reserve(
      estimate_analysis_memory(set, (table.metrics.size() + kTrajectoryNames.size()) * (set.steps().size() + 1),
                               context.executor.threads()),
      "statistics");
  const std::vector<std::uint32_t> group_of = set.group_numbers();
  ComparedVideos compared = select_compared_videos(options, set, table);
  const std::size_t columns = compared.columns.size();
  for (std::size_t v = 0; v < set.videos.size(); ++v) {
    if (group_of[v] == out.groups.size()) {
      out.groups.push_back(replace_invalid_utf8(set.videos[v].group));
      out.videos.push_back(0);
      out.compared.push_back(0);
    }
    ++out.videos.back();
  }
  std::vector<std::uint32_t> group_of_row;
  for (const std::size_t v : compared.videos) {
    group_of_row.push_back(group_of[v]);
    ++out.compared[group_of[v]];
  }
  out.steps = set.steps();
  out.usual_steps = std::move(compared.usual_steps);
  out.metrics = std::move(compared.metrics);
  out.columns = std::move(compared.columns);
  out.over_steps = compared.over_steps;
  out.notes = std::move(compared.notes);
  out.pairs = statistics::pairs_of(out.groups.size());
  out.no_tests = explain_no_tests(out);

  const statistics::SampleTable tested{compared.values, group_of_row, columns, out.groups.size()};
  const std::vector<std::uint8_t> in_family_flags = find_family_members(tested);
  TestFamily found = test_family(tested, in_family_flags, {static_cast<std::uint64_t>(options.seed)}, context.executor);
  context.throw_if_cancelled();
  for (std::size_t i = 0; i < in_family_flags.size(); ++i)
    out.not_in_family +=
        in_family_flags[i] == 0 && found.tests[i].comparison.reason == statistics::UntestedReason::none ? 1 : 0;
  for (const double least : found.least) out.min_possible_p = std::min(out.min_possible_p, least);
  out.tests = std::move(found.tests);
  out.means = std::move(found.means);
  add_notes(found, out);
  return out;
}

}  // namespace millrace::latents
