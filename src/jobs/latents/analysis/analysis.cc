#include "src/jobs/latents/analysis/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "src/base/text.h"
#include "src/kernels/statistics/multiplicity.h"
#include "src/kernels/statistics/permute.h"

namespace millrace::latents {
namespace {

// What there is a row a video of.
struct Values {
  std::vector<double> values;  // [videos, columns]
  std::vector<Column> columns;

  void add(const Column& column, std::vector<double> of_videos) {
    // Of what has no square nothing can be tested.
    for (double& value : of_videos) {
      if (std::fabs(value) > statistics::kMost) value = Measures::kAbsent;
      if (std::fabs(value) < statistics::kLeast) value = 0;
    }
    columns.push_back(column);
    by_column_.push_back(std::move(of_videos));
  }
  void finish(std::size_t videos) {
    values.resize(videos * columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (std::size_t v = 0; v < videos; ++v) values[v * columns.size() + c] = by_column_[c][v];
    by_column_.clear();
  }

 private:
  std::vector<std::vector<double>> by_column_;
};

// A number a video, of which each step's latents are asked.
class VideosBySteps {
 public:
  VideosBySteps(const LatentSet& set, const MetricTable& table) : set_(set), table_(table) {}

  // Of one step; NaN where a video lacks it.
  std::vector<double> at(std::size_t metric, long long step) const {
    std::vector<double> out(set_.videos.size(), Measures::kAbsent);
    for (std::size_t row = 0; row < set_.files.size(); ++row)
      if (set_.files[row].step == step) out[set_.files[row].video] = table_.at(row, metric);
    return out;
  }
  // The mean over these steps; NaN of a video that lacks one: means over other steps would differ for that alone.
  std::vector<double> over(const std::vector<long long>& steps, std::size_t metric) const {
    std::vector<double> sums(set_.videos.size());
    std::vector<std::size_t> counts(sums.size());
    for (std::size_t row = 0; row < set_.files.size(); ++row) {
      if (!std::binary_search(steps.begin(), steps.end(), set_.files[row].step)) continue;
      sums[set_.files[row].video] += table_.at(row, metric);
      ++counts[set_.files[row].video];
    }
    for (std::size_t v = 0; v < sums.size(); ++v)
      sums[v] = counts[v] == steps.size() ? sums[v] / static_cast<double>(counts[v]) : Measures::kAbsent;
    return sums;
  }
  // The steps that most videos have, all of them; of what is had as often, the more.
  std::vector<long long> usual_steps() const {
    std::vector<std::vector<long long>> of_videos(set_.videos.size());
    for (const LatentFile& latent : set_.files) of_videos[latent.video].push_back(latent.step);
    std::map<std::vector<long long>, std::size_t> counts;
    for (const auto& steps : of_videos) ++counts[steps];
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) {
                              return std::pair(a.second, a.first.size()) < std::pair(b.second, b.first.size());
                            })
        ->first;
  }

 private:
  const LatentSet& set_;
  const MetricTable& table_;
};

// Columns that at least half of the videos have, of each group that has any.
std::vector<std::uint8_t> columns_of_family(const statistics::Table& table) {
  const auto rows = statistics::rows_by_group(table);
  std::vector<std::uint8_t> out(table.columns, 1);
  for (std::size_t c = 0; c < table.columns; ++c) {
    for (const auto& own : rows) {
      const auto count = static_cast<std::size_t>(std::count_if(
          own.begin(), own.end(), [&](std::uint32_t row) { return table.at(row, c) == table.at(row, c); }));
      if (count > 0 && 2 * count < own.size()) out[c] = 0;
    }
  }
  return out;
}

std::string why_no_tests(const Analysis& analysis) {
  if (analysis.groups.size() < 2) return "there is one group: there is nothing to compare it with";
  const auto enough =
      std::count_if(analysis.videos.begin(), analysis.videos.end(), [](std::size_t n) { return n > 1; });
  if (enough >= 2) return "";
  return "a p needs two groups of two videos at least: of one video nobody knows how much videos of its group differ";
}

// One over the ways to deal so many videos to two groups; of groups of one size a deal and its mirror image are one.
double least_possible(std::size_t a, std::size_t b) {
  if (a < 2 || b < 2) return 1;
  double ways = 1;
  for (std::size_t i = 1; i <= std::min(a, b); ++i)
    ways = ways * static_cast<double>(a + b - std::min(a, b) + i) / static_cast<double>(i);
  return std::max((a == b ? 2 : 1) / ways, 1.0 / (kShuffles + 1));
}

}  // namespace

Family test_family(const statistics::Table& table, const std::vector<std::uint8_t>& belongs, const Drawn& drawn,
                   const Executor& executor) {
  statistics::check(table);
  const auto rows = statistics::rows_by_group(table);
  const auto pairs = statistics::pairs_of(table.group_count);
  const std::size_t columns = table.columns;
  const auto sample = [&](std::size_t group, std::size_t column) {
    std::vector<double> out;
    for (const std::uint32_t row : rows[group]) out.push_back(table.at(row, column));
    return out;
  };
  Family out;
  out.tests.resize(pairs.size() * columns);
  out.means.resize(rows.size() * columns);
  if (columns == 0) return out;
  executor.parallel_for(out.tests.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto [a, b] = pairs[i / columns];
      out.tests[i].comparison = statistics::compare(sample(a, i % columns), sample(b, i % columns));
    }
  });
  for (std::size_t i = 0; i < out.means.size(); ++i)
    out.means[i].moments = statistics::moments_of(sample(i / columns, i % columns));
  const auto permuted = statistics::permute(table, belongs, drawn.seed, drawn.shuffles, executor);
  const auto intervals = statistics::bootstrap(table, drawn.seed, drawn.replicates, executor);
  std::vector<double> p;
  for (std::size_t i = 0; i < out.tests.size(); ++i)
    p.push_back(belongs[i % columns] != 0 ? out.tests[i].comparison.p : statistics::kNoNumber);
  const std::vector<double> holm = statistics::holm(p), benjamini = statistics::benjamini_hochberg(p);
  for (std::size_t i = 0; i < out.tests.size(); ++i) {
    out.tests[i].permutation = permuted.raw[i];
    out.tests[i].familywise = permuted.familywise[i];
    out.tests[i].difference = intervals.differences[i];
    out.tests[i].holm = holm[i];
    out.tests[i].benjamini_hochberg = benjamini[i];
  }
  for (std::size_t i = 0; i < out.means.size(); ++i) out.means[i].interval = intervals.means[i];
  return out;
}

const char* words_of(statistics::Reason reason) {
  switch (reason) {
    case statistics::Reason::none:
      return "";
    case statistics::Reason::too_few:
      return "one video in a group";
    case statistics::Reason::no_variance:
      return "both groups constant";
    case statistics::Reason::absent:
      return "not defined in a group";
  }
  return "";
}

Bytes analysis_memory(const LatentSet& set, std::size_t columns, int threads) {
  const std::uint64_t videos = set.videos.size(), groups = set.groups(), pairs = groups * (groups - 1) / 2;
  constexpr std::uint64_t kShufflesAtOnce = 128, kLanes = 16;  // src/kernels/statistics/permute.cc
  // Numbers a latent, and a video twice; tests; of each replicate a word a video, and a mean a group for columns that
  // are worked on together; of all shuffles a maximum, of those at once their videos and two rows of lanes.
  return Bytes{8 * set.files.size() * (columns / std::max<std::uint64_t>(1, set.step_count()) + 1) +
               2 * 8 * videos * columns + columns * (pairs * sizeof(PairTest) + groups * sizeof(GroupMean)) +
               kReplicates * (4 * videos + 64 * groups * static_cast<std::uint64_t>(threads)) + 8 * kShuffles +
               kShufflesAtOnce * (2 * videos + 2 * 8 * kLanes) * static_cast<std::uint64_t>(threads)};
}

Analysis analyse(const Options& options, const LatentSet& set, const MetricTable& table, RunContext& context) {
  Analysis out;
  const Reservation paid = context.budget.reserve(
      analysis_memory(set, (table.metrics.size() + kTrajectoryNames.size()) * (set.step_count() + 1),
                      context.executor.threads()),
      "statistics");
  const std::vector<std::uint32_t> group_of = set.group_numbers();
  for (std::size_t v = 0; v < set.videos.size(); ++v) {
    if (group_of[v] == out.groups.size()) {
      out.groups.push_back(utf8_for_display(set.videos[v].group));
      out.videos.push_back(0);
    }
    ++out.videos.back();
  }
  for (const LatentFile& latent : set.files) out.steps.push_back(latent.step);
  std::sort(out.steps.begin(), out.steps.end());
  out.steps.erase(std::unique(out.steps.begin(), out.steps.end()), out.steps.end());
  const VideosBySteps videos(set, table);
  out.usual_steps = videos.usual_steps();
  Values all;
  std::vector<std::pair<Column, std::vector<double>>> over_steps;  // they come last
  // What no latent has is no metric here.
  const auto is_there = [](double value) { return value == value; };
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    bool any = false;
    for (std::size_t row = 0; row < set.files.size() && !any; ++row) any = is_there(table.at(row, m));
    if (!any) continue;
    for (const long long step : out.steps) all.add({out.metrics.size(), step}, videos.at(m, step));
    // Of one step they would be its numbers again.
    if (out.steps.size() > 1)
      over_steps.emplace_back(Column{out.metrics.size(), std::nullopt}, videos.over(out.usual_steps, m));
    out.metrics.push_back(table.metrics[m]);
  }
  for (std::size_t k = 0; k < kTrajectoryNames.size() && options.chosen.trajectory; ++k) {
    std::vector<double> values(set.videos.size(), Measures::kAbsent);
    for (std::size_t v = 0; v < table.trajectories.size(); ++v)
      if (table.trajectories[v]) values[v] = values_of(*table.trajectories[v])[k];
    if (std::none_of(values.begin(), values.end(), is_there)) continue;
    over_steps.emplace_back(Column{out.metrics.size(), std::nullopt}, std::move(values));
    out.metrics.push_back(kTrajectoryNames[k]);
  }
  out.over_steps = all.columns.size();
  for (auto& [column, values] : over_steps) all.add(column, std::move(values));
  all.finish(set.videos.size());
  out.columns = all.columns;
  out.pairs = statistics::pairs_of(out.groups.size());
  out.no_tests = why_no_tests(out);
  for (const auto& [a, b] : out.pairs)
    out.least_possible = std::min(out.least_possible, least_possible(out.videos[a], out.videos[b]));

  const statistics::Table tested{all.values, group_of, all.columns.size(), out.groups.size()};
  const std::vector<std::uint8_t> belongs = columns_of_family(tested);
  out.not_in_family = static_cast<std::size_t>(std::count(belongs.begin(), belongs.end(), 0));
  Family found = test_family(tested, belongs, {static_cast<std::uint64_t>(options.seed)}, context.executor);
  context.throw_if_cancelled();
  out.tests = std::move(found.tests);
  out.means = std::move(found.means);
  return out;
}

}  // namespace millrace::latents
