// Input: results about groups of videos, as numbers.
// Output: a page about them: the answer in words, then tables and plots.
// Never: computes a statistic, or reports a difference without its effect, its interval and its p.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace millrace::latents {

// Curve of a group and a metric over AnalysisView::steps, or a single number for a metric of whole videos. NaN where
// absent. `low` and `high`: 95 % interval of the mean over videos by Student's t; NaN where there is none.
struct GroupCurve {
  std::vector<double> mean, low, high;
};

// Result for one pair of groups, metric and step, or for all steps together (step = -1). NaN where absent. Differences,
// t, d and g are of a less b. `low` to `high` is the 95 % interval of the difference of means, by Welch's t.
struct PairResult {
  std::size_t a = 0, b = 0, metric = 0;
  long long step = -1;
  std::size_t n_a = 0, n_b = 0;  // numbers of videos
  double mean_a = 0, mean_b = 0, t = 0, df = 0, p_welch = 0, p_holm = 0, p_bh = 0, cohens_d = 0, hedges_g = 0, u = 0,
         p_mann_whitney = 0, p_permutation = 0;
  double p_family = 0;  // family-wise p; NaN outside of the family
  double low = 0, high = 0;
};

struct SeparabilityAtStep {
  long long step = 0;
  // Mean distance between videos of different groups over that of videos of one group, in the space of the first
  // components. `ratio` divides each feature by its deviation; `ratio_published` takes features as they are.
  double ratio = 0, ratio_published = 0;
  double silhouette = 0, p = 0, p_corrected = 0;  // p of this step alone; p corrected for the number of steps
  std::vector<std::array<double, 2>> points;      // first two components of each video
  std::vector<std::size_t> group_of_point;
  std::array<double, 2> explained{};  // shares of the variance, 0 to 1
};

struct AnalysisView {
  std::vector<std::string> groups;
  std::vector<std::size_t> videos;  // compared videos of each group
  std::vector<long long> steps;
  std::vector<std::string> metrics;             // trajectory.* have only results of all steps
  std::vector<std::vector<GroupCurve>> curves;  // [group][metric]
  std::vector<PairResult> results;
  std::size_t permutations = 0, bootstraps = 0;
  std::uint64_t seed = 0;
  std::string no_tests_reason;  // empty if tests were made
  double min_possible_p = 0;    // the smallest family-wise p that so few videos can give
  // [group][C (C - 1) / 2]: mean over latents, pairs (0, 1), (0, 2), ...
  std::vector<std::vector<double>> channel_correlation;
  std::vector<std::vector<double>> channel_variance;  // [group][C]
  int channels = 0;
  std::vector<long long> spectrum_steps;
  std::vector<std::vector<std::vector<double>>> spectra;  // [spectrum step][group][radius from 1]
  std::vector<SeparabilityAtStep> separability;
  std::string separability_note;                              // may be empty
  std::vector<std::pair<std::string, std::string>> left_out;  // pairs of what was left out and why; may be empty
};

// Returns the whole page. Empty lists leave their section out; a section that is expected says why it is missing.
// Throws Failure(internal) if a result names no group or metric.
std::string make_page(const AnalysisView& view);

}  // namespace millrace::latents
