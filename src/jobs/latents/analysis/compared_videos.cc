#include "src/jobs/latents/analysis/compared_videos.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "src/base/text.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::latents {
namespace {

bool is_present(double value) { return value == value; }

// Steps of every video, in order.
std::vector<std::vector<long long>> steps_of_videos(const LatentSet& set) {
  std::vector<std::vector<long long>> out(set.videos.size());
  for (const LatentFile& latent : set.files) out[latent.video].push_back(latent.step);
  return out;
}

// Returns the list of steps that most videos have; of equally frequent lists, the longest.
std::vector<long long> find_usual_steps(const std::vector<std::vector<long long>>& of_videos) {
  std::map<std::vector<long long>, std::size_t> counts;
  for (const auto& steps : of_videos) ++counts[steps];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) {
                            return std::pair(a.second, a.first.size()) < std::pair(b.second, b.first.size());
                          })
      ->first;
}

// Appends the bits of a measured value. Sets `telling` to 1 if the value is not a whole number: whole numbers may be
// equal by chance.
void add_bits(double value, std::vector<std::uint64_t>& bits, char& telling) {
  bits.push_back(std::bit_cast<std::uint64_t>(value));
  if (is_present(value) && value != std::floor(value)) telling = 1;
}
void add_bits(const MetricTable& table, std::size_t row, std::vector<std::uint64_t>& bits, char& telling) {
  for (std::size_t m = 0; m < table.metrics.size(); ++m) add_bits(table.at(row, m), bits, telling);
}

// Counts videos whose first latent has the same measured bits as that of a video of another group. Such videos began
// with the noise of one seed.
std::size_t count_shared_beginnings(const LatentSet& set, const MetricTable& table) {
  const std::vector<std::uint32_t> group_of = set.group_numbers();
  // Groups of videos, by the bits of their first latent.
  std::map<std::vector<std::uint64_t>, std::vector<std::uint32_t>> groups;
  for (std::size_t row = 0; row < set.files.size(); ++row) {
    if (row > 0 && set.files[row].video == set.files[row - 1].video) continue;
    std::vector<std::uint64_t> bits;
    char telling = 0;
    add_bits(table, row, bits, telling);
    if (telling != 0) groups[bits].push_back(group_of[set.files[row].video]);
  }
  std::size_t out = 0;
  for (const auto& [bits, of] : groups)
    if (of.front() != of.back()) out += of.size();
  return out;
}

// Returns for every video 1 if it copies an earlier video of its group: all measured values at all steps are equal. A
// video that is counted twice makes its group look more certain than it is.
std::vector<char> find_copies(const LatentSet& set, const MetricTable& table) {
  const std::vector<std::uint32_t> group_of = set.group_numbers();
  std::vector<std::vector<std::uint64_t>> all(set.videos.size());
  std::vector<char> telling(set.videos.size(), 0), out(set.videos.size(), 0);
  for (std::size_t row = 0; row < set.files.size(); ++row) {
    const std::size_t video = set.files[row].video;
    all[video].push_back(group_of[video]);
    all[video].push_back(static_cast<std::uint64_t>(set.files[row].step));
    add_bits(table, row, all[video], telling[video]);
  }
  for (std::size_t v = 0; v < table.trajectories.size(); ++v) {
    if (!table.trajectories[v]) continue;
    for (const double value : values_of(*table.trajectories[v])) add_bits(value, all[v], telling[v]);
  }
  std::set<std::vector<std::uint64_t>> known;
  for (std::size_t v = 0; v < all.size(); ++v) out[v] = telling[v] != 0 && !known.insert(std::move(all[v])).second;
  return out;
}

class Builder {
 public:
  Builder(const LatentSet& set, const MetricTable& table)
      : set_(set), table_(table), steps_(steps_of_videos(set)), alike_(set.videos.size()) {
    out_.usual_steps = find_usual_steps(steps_);
    const int frames = set.usual_shape().frames;
    for (const LatentFile& latent : set.files) alike_[latent.video] = latent.shape.frames == frames ? 1 : 0;
    const auto count = [&](auto begin, auto end) { return static_cast<std::size_t>(std::count(begin, end, 0)); };
    if (const std::size_t others = count(alike_.begin(), alike_.end()); others > 0) {
      out_.notes.push_back(fmt::format(
          "{} of {} videos do not have the most common number of frames ({}): they are measured, but not compared",
          group_digits(others), group_digits(set.videos.size()), frames));
    }
    const std::vector<char> copied = find_copies(set, table);
    std::size_t dropped = 0;
    for (std::size_t v = 0; v < copied.size(); ++v) {
      if (copied[v] == 0) continue;
      alike_[v] = 0;
      ++dropped;
    }
    if (dropped > 0) {
      out_.notes.push_back(
          fmt::format("{} of {} videos are copies of another video of their group (same numbers at all steps): each is "
                      "compared only once",
                      group_digits(dropped), group_digits(set.videos.size())));
    }
    for (std::size_t row = 0; row < set.files.size(); ++row) rows_of_step_[set.files[row].step].push_back(row);
    const auto others = static_cast<std::size_t>(
        std::count_if(steps_.begin(), steps_.end(), [&](const auto& steps) { return steps != out_.usual_steps; }));
    if (others > 0) {
      out_.notes.push_back(fmt::format(
          "{} of {} videos do not have exactly the {} steps from {} to {} that {}: their trajectories are not "
          "compared, nor their means over steps if one of these is missing",
          group_digits(others), group_digits(set.videos.size()), group_digits(out_.usual_steps.size()),
          out_.usual_steps.front(), out_.usual_steps.back(),
          2 * others < set.videos.size() ? "most videos have" : "are most common"));
    }
  }

  void note_seeds() {
    const std::size_t shared = count_shared_beginnings(set_, table_);
    if (shared == 0) return;
    out_.notes.push_back(
        fmt::format("{} of {} videos start with the same latent as a video of another group, probably from one seed: "
                    "the tests treat them as independent, and may miss a real difference",
                    group_digits(shared), group_digits(set_.videos.size())));
  }

  // Adds the column of a metric at one step; NaN where a video lacks the step.
  void add_step(std::size_t metric, long long step) {
    std::vector<double> values = make_absent_values();
    for (const std::size_t row : rows_of_step_.at(step)) values[set_.files[row].video] = table_.at(row, metric);
    add({out_.metrics.size(), step}, std::move(values));
  }
  // Adds the column of a metric's mean over the usual steps. A video that lacks one of them gets NaN: a mean over other
  // steps would differ for that reason alone.
  void add_mean(std::size_t metric) {
    std::vector<double> sums(set_.videos.size());
    std::vector<std::size_t> counts(sums.size());
    const auto& steps = out_.usual_steps;
    for (std::size_t row = 0; row < set_.files.size(); ++row) {
      if (!std::binary_search(steps.begin(), steps.end(), set_.files[row].step)) continue;
      sums[set_.files[row].video] += table_.at(row, metric);
      ++counts[set_.files[row].video];
    }
    for (std::size_t v = 0; v < sums.size(); ++v)
      sums[v] = counts[v] == steps.size() ? sums[v] / static_cast<double>(counts[v]) : Measures::kAbsent;
    last_.emplace_back(ComparisonColumn{out_.metrics.size(), std::nullopt}, std::move(sums));
  }
  // Adds the column of a trajectory metric. Only videos with exactly the usual steps have a number: a path along more
  // steps is longer for that reason alone.
  void add_trajectories(std::size_t which) {
    std::vector<double> values = make_absent_values();
    for (std::size_t v = 0; v < table_.trajectories.size(); ++v)
      if (table_.trajectories[v] && steps_[v] == out_.usual_steps)
        values[v] = values_of(*table_.trajectories[v])[which];
    if (std::none_of(values.begin(), values.end(), is_present)) return;
    last_.emplace_back(ComparisonColumn{out_.metrics.size(), std::nullopt}, std::move(values));
    out_.metrics.push_back(kTrajectoryNames[which]);
  }
  // Adds the name of the metric whose columns were added last.
  void add_metric_name(std::string_view metric) { out_.metrics.push_back(metric); }

  ComparedVideos finish() {
    out_.over_steps = out_.columns.size();
    for (auto& [column, values] : last_) add(column, std::move(values));
    // A video without any number is left out: permutations would assign it to a side, where it would count for nothing.
    for (std::size_t v = 0; v < set_.videos.size(); ++v) {
      if (std::none_of(by_column_.begin(), by_column_.end(), [&](const auto& column) { return is_present(column[v]); }))
        continue;
      out_.videos.push_back(v);
      for (const auto& column : by_column_) out_.values.push_back(column[v]);
    }
    return std::move(out_);
  }

 private:
  std::vector<double> make_absent_values() const { return std::vector<double>(set_.videos.size(), Measures::kAbsent); }

  void add(const ComparisonColumn& column, std::vector<double> of_videos) {
    for (std::size_t v = 0; v < of_videos.size(); ++v) {
      double& value = of_videos[v];
      // Values whose square cannot be represented are absent: they cannot be tested.
      if (alike_[v] == 0 || std::fabs(value) > statistics::kMaxMagnitude) value = Measures::kAbsent;
      if (std::fabs(value) < statistics::kMinMagnitude) value = 0;
    }
    out_.columns.push_back(column);
    by_column_.push_back(std::move(of_videos));
  }

  const LatentSet& set_;
  const MetricTable& table_;
  const std::vector<std::vector<long long>> steps_;  // steps of each video
  std::vector<char> alike_;  // 1 for a video that is compared: it has the usual number of frames and is no copy
  std::map<long long, std::vector<std::size_t>> rows_of_step_;
  std::vector<std::vector<double>> by_column_;
  std::vector<std::pair<ComparisonColumn, std::vector<double>>> last_;  // columns over all steps
  ComparedVideos out_;
};

}  // namespace

ComparedVideos select_compared_videos(const LatentsJobOptions& options, const LatentSet& set,
                                      const MetricTable& table) {
  Builder out(set, table);
  out.note_seeds();
  const std::vector<long long> steps = set.steps();
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    // A metric that no latent has gets no columns.
    bool any = false;
    for (std::size_t row = 0; row < set.files.size() && !any; ++row) any = is_present(table.at(row, m));
    if (!any) continue;
    for (const long long step : steps) out.add_step(m, step);
    // A mean over a single step would repeat that step's column.
    if (steps.size() > 1) out.add_mean(m);
    out.add_metric_name(table.metrics[m]);
  }
  for (std::size_t k = 0; k < kTrajectoryNames.size() && options.chosen.trajectory; ++k) out.add_trajectories(k);
  return out.finish();
}

}  // namespace millrace::latents
