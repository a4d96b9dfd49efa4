#include "src/jobs/latents/page.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "src/base/error.h"
#include "src/jobs/latents/page_findings.h"
#include "src/jobs/latents/page_for_test.h"
#include "src/jobs/latents/page_metrics.h"

namespace millrace::latents {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Two groups, two metrics, steps 0 to 9 and 12; nothing differs.
AnalysisView small_view() {
  AnalysisView view;
  view.groups = {"prompt_000", "prompt_003"};
  view.videos = {12, 11};
  view.steps = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12};
  view.metrics = {"spatial.variance", "temporal.motion"};
  view.permutations = view.bootstraps = 10'000;
  for (std::size_t m = 0; m < 2; ++m) {
    for (const long long step : view.steps) {
      PairResult one;
      one.a = 0;
      one.b = 1;
      one.metric = m;
      one.step = step;
      one.n_a = 12;
      one.n_b = 11;
      one.mean_a = 0.5;
      one.mean_b = 0.51;
      one.low = -0.05;
      one.high = 0.03;
      one.hedges_g = -0.1;
      one.p_permutation = 0.6;
      one.p_family = 0.9;
      view.results.push_back(one);
    }
  }
  view.curves.resize(2, std::vector<GroupCurve>(2));
  for (auto& group : view.curves) {
    for (GroupCurve& curve : group) curve.mean.assign(view.steps.size(), 0.5);
  }
  return view;
}

PairResult& result_at(AnalysisView& view, std::size_t metric, long long step) {
  for (PairResult& one : view.results) {
    if (one.metric == metric && one.step == step) return one;
  }
  throw Failure(ErrorCode::internal, "no such result");
}

std::string answer(const AnalysisView& view) {
  std::string text;
  for (const std::string& paragraph : write_answer(view, collect_findings(view))) text += paragraph + "\n";
  return text;
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(LatentsPageTest, ADifferenceIsReportedWithItsNumbers) {
  AnalysisView view = small_view();
  for (const long long step : {4, 5, 6, 9, 12}) {
    PairResult& one = result_at(view, 0, step);
    one.p_family = 0.02;
    one.hedges_g = -1.1;
  }
  PairResult& most = result_at(view, 0, 5);
  most.mean_a = 0.81;
  most.mean_b = 1.02;
  most.low = -0.31;
  most.high = -0.12;
  most.hedges_g = -2.1;
  most.p_family = 0.0003;
  const std::string text = answer(view);
  EXPECT_TRUE(has(text,
                  "1 of 2 metrics differ between at least one pair of groups at some step after correction for all 22 "
                  "comparisons (family-wise p \u2264 0.05)."))
      << text;
  // There is no step between 9 and 12.
  EXPECT_TRUE(has(text,
                  "The largest difference is spatial.variance, prompt_000 against prompt_003, steps 4\u20136 and "
                  "9\u201312, most at step "
                  "5: 0.810 against 1.02, difference \u22120.210 (95 % interval \u22120.310 to \u22120.120), Hedges' g "
                  "\u22122.10, family-wise p\u00A0=\u00A00.0003."))
      << text;
  EXPECT_TRUE(has(text, "The unit of analysis is the video (11 to 12 videos per group)"));
  const std::string page = make_page(view);
  EXPECT_TRUE(has(page, "<dd>1 of 2</dd>"));
  EXPECT_TRUE(has(page, "<td>spatial.variance</td><td>prompt_000 against prompt_003</td>"));
  EXPECT_FALSE(has(page, "significan")) << "a p is told, not judged";
}

TEST(LatentsPageTest, TheSmallestPOfPermutationsIsABound) {
  AnalysisView view = small_view();
  PairResult& one = result_at(view, 1, 0);
  one.p_family = 1.0 / 10'001;
  one.hedges_g = 3;
  EXPECT_TRUE(has(answer(view), "temporal.motion, prompt_000 against prompt_003, step 0: "));
  EXPECT_TRUE(has(answer(view), "family-wise p\u00A0\u2264\u00A00.0001 (10,000 permutations)."));
}

TEST(LatentsPageTest, WithoutDifferencesTheSmallestPIsReported) {
  AnalysisView view = small_view();
  PairResult& nearest = result_at(view, 1, 7);
  nearest.p_family = 0.0504;
  const std::string text = answer(view);
  EXPECT_TRUE(has(text, "No metric differs between any pair of groups after correction for all 22 comparisons"));
  EXPECT_TRUE(has(text,
                  "The comparison with the smallest p is temporal.motion, prompt_000 against prompt_003, step 7: 0.500 "
                  "against 0.510"));
  EXPECT_TRUE(has(text, "family-wise p\u00A0=\u00A00.0504."));
  EXPECT_TRUE(has(text, "only differences that are large compared with the spread of videos are detected"));
  view.min_possible_p = 0.1;
  EXPECT_TRUE(has(answer(view), "no difference can be detected, however large: no family-wise p can be below 0.1"));
  const std::string page = make_page(view);
  EXPECT_TRUE(has(page, "No comparison differs after correction."));
  EXPECT_TRUE(has(page, ">0.0504</text>") || has(page, ">.0504</text>")) << "the cell does not look like 0.05";
  EXPECT_FALSE(has(page, "<td>0.05 •"));
}

// The step at which groups are farthest apart was chosen among all steps: its own p is too small.
TEST(LatentsPageTest, TheStepThatIsMostApartIsCorrectedForTheChoice) {
  AnalysisView view = small_view();
  for (const double corrected : {0.02, 0.2}) {
    view.separability.clear();
    for (int step = 0; step < 5; ++step) {
      SeparabilityAtStep at;
      at.step = step;
      at.ratio = step == 3 ? 1.2 : 1.1;
      at.silhouette = 0.1;
      at.p = step == 3 ? corrected / 5 : 0.5;
      at.p_corrected = step == 3 ? corrected : 1;
      view.separability.push_back(at);
    }
    const std::string text = answer(view);
    EXPECT_EQ(has(text, "groups differ most at step 3"), corrected < 0.05) << text;
    EXPECT_EQ(has(text, "no difference at step 3"), corrected > 0.05) << text;
    EXPECT_TRUE(has(text, corrected < 0.05 ? "p\u00A0=\u00A00.02 after correction for 5 steps"
                                           : "p\u00A0=\u00A00.2 after correction for 5 steps"));
    EXPECT_FALSE(has(text, "of this step alone"));
  }
}

TEST(LatentsPageTest, OneVideoAGroupIsNoTest) {
  const AnalysisView single = make_single_video_view();
  const std::string text = answer(single);
  EXPECT_TRUE(has(text, "No metric was tested: every group has one video"));
  EXPECT_FALSE(has(text, "differs")) << text;
  const std::string page = make_page(single);
  EXPECT_FALSE(has(page, "What differs</h2>"));
  EXPECT_FALSE(has(page, "permutations of a pair"));
  EXPECT_TRUE(has(page, "Metrics by step</h2>")) << "the numbers are shown all the same";
  EXPECT_TRUE(has(page, "There are no intervals"));
  EXPECT_FALSE(has(page, "the band is its"));
  EXPECT_TRUE(has(page, "No group has two videos, so there is no distance within a group."));
  AnalysisView explained = single;
  explained.no_tests_reason = "of each group one video is left";
  EXPECT_TRUE(has(answer(explained), "No metric was tested: of each group one video is left."));
  AnalysisView alone;
  alone.groups = {"only"};
  alone.videos = {5};
  EXPECT_TRUE(has(answer(alone), "there is only one group, and nothing to compare it with"));
  EXPECT_FALSE(make_page(alone).empty());
}

TEST(LatentsPageTest, AbsentNumbersAreNeitherShownNorCounted) {
  AnalysisView view = small_view();
  for (PairResult& one : view.results) {
    if (one.metric != 1) continue;
    one.p_family = one.p_permutation = one.hedges_g = one.mean_a = one.mean_b = one.low = one.high = kNaN;
  }
  for (auto& group : view.curves) group[1].mean.assign(view.steps.size(), kNaN);
  view.left_out = {{"temporal.motion", "there is no movement in one frame"}};
  EXPECT_TRUE(has(answer(view), "for all 11 comparisons"));
  const std::string page = make_page(view);
  EXPECT_TRUE(has(page, "<dd>0 of 1</dd>"));
  EXPECT_FALSE(has(page, ">temporal.motion</tspan>")) << "no panel without a number";
  EXPECT_TRUE(has(page, "<td>temporal.motion</td><td>there is no movement in one frame</td>"));
  EXPECT_TRUE(has(page, "1 skipped item or note"));
  for (const char* odd : {"=\"nan", "=\"inf", ",nan", ",inf", ">nan", ">inf"}) EXPECT_FALSE(has(page, odd)) << odd;
}

TEST(LatentsPageTest, ResultsOutsideOfTheFamilyNeverDiffer) {
  AnalysisView view = small_view();
  view.metrics.emplace_back("trajectory.path");
  for (auto& group : view.curves) group.push_back({{3.5}, {3.2}, {3.9}});
  PairResult path = view.results[0];
  path.metric = 2;
  path.step = -1;
  path.p_family = kNaN;
  path.p_permutation = 0.0001;
  path.hedges_g = 5;
  view.results.push_back(path);
  EXPECT_TRUE(has(answer(view), "No metric differs"));
  const std::string page = make_page(view);
  EXPECT_TRUE(has(page, "1 comparison of whole videos"));
  EXPECT_TRUE(has(page, "These comparisons are not corrected for multiple testing"));
  EXPECT_TRUE(has(page, "prompt_000: 3.50 [3.20, 3.90]"));
}

TEST(LatentsPageTest, AnIntervalStandsInTheUnitOfItsEffect) {
  AnalysisView view = small_view();
  PairResult& one = result_at(view, 0, 3);
  one.mean_a = 1;
  one.mean_b = 2;  // difference -1, g -2: a deviation of a half
  one.low = -1.5;
  one.high = -0.5;
  one.hedges_g = -2;
  one.p_family = 0.01;
  EXPECT_TRUE(has(make_page(view), "spatial.variance: \u22122.00 [\u22123.00, \u22121.00], p\u00A0=\u00A00.01"));
}

TEST(LatentsPageTest, AFullPageIsSmallAndTheSameEachTime) {
  const AnalysisView view = make_sample_view();
  const std::string page = make_page(view);
  EXPECT_LT(page.size(), 3'000'000u);
  EXPECT_EQ(page, make_page(view));
  for (const char* section : {"What differs", "Metrics by step", "By metric and step", "Channels", "Spectra",
                              "Whole videos", "Separability", "Groups", "Skipped items and notes", "Methods"}) {
    EXPECT_TRUE(has(page, std::string(section) + "</h2>")) << section;
  }
}

TEST(LatentsPageTest, EveryMetricHasItsMeaning) {
  for (const std::string& metric : make_sample_view().metrics) EXPECT_NE(meaning_of(metric), "") << metric;
  EXPECT_EQ(meaning_of("no.such"), "");
  EXPECT_EQ(family_of("patch.16.variance"), "patch");
}

TEST(LatentsPageTest, AResultOfNoGroupIsAMistake) {
  AnalysisView view = small_view();
  view.results[0].b = 2;
  EXPECT_THROW(make_page(view), Failure);
}

}  // namespace
}  // namespace millrace::latents
