#include "src/jobs/latents/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/jobs/latents/page_findings.h"
#include "src/jobs/latents/page_sections.h"
#include "src/report/page/page.h"

namespace millrace::latents {
namespace {

void check_view(const AnalysisView& view) {
  const auto known = [&](const PairResult& result) {
    return result.a < view.groups.size() && result.b < view.groups.size() && result.metric < view.metrics.size();
  };
  if (view.videos.size() != view.groups.size() || !std::all_of(view.results.begin(), view.results.end(), known)) {
    throw Failure(ErrorCode::internal, "a result names no group or metric of the analysis");
  }
}

void add_groups(report::PageWriter& page, const AnalysisView& view) {
  page.section("Groups");
  report::Table table;
  table.columns = {{"group"}, {"videos", true}};
  for (std::size_t g = 0; g < view.groups.size(); ++g)
    table.rows.push_back({view.groups[g], group_digits(view.videos[g])});
  page.table(table);
}

}  // namespace

void add_left_out(report::PageWriter& page, const AnalysisView& view) {
  page.section("What was left out");
  if (view.left_out.empty()) {
    page.paragraph("Nothing: every file was used, and every metric was measured.");
    return;
  }
  report::Table table;
  table.columns = {{"what"}, {"why"}};
  for (const auto& [what, why] : view.left_out) {
    if (table.rows.size() == report::kMaxNumberRows) break;
    table.rows.push_back({what, why});
  }
  if (table.rows.size() < view.left_out.size()) {
    table.note =
        fmt::format("The first {} of {}.", group_digits(table.rows.size()), group_digits(view.left_out.size()));
  }
  page.table(table);
}

void add_methods(report::PageWriter& page, const AnalysisView& view) {
  page.section("Methods");
  page.paragraph(
      "Metrics are defined in docs/latents.md. The unit is the video: a group's sample is its videos, and latents, "
      "frames and pixels of one video are not counted as independent.");
  if (explain_no_tests(view).empty()) {
    page.paragraph(fmt::format(
        "Pairs of groups are compared by Welch's t with degrees of freedom after Welch and Satterthwaite. "
        "The p of a comparison is from permutations of a pair's videos among its two groups: all of them, "
        "or {} that are drawn where there are more. The family-wise p is, within a pair of groups, Westfall "
        "and Young's single-step max-T over its metrics and steps: the share of permutations in which the "
        "largest |t| is at least as large; over pairs of groups it is Sidak's, in which a pair of few "
        "videos that cannot have so small a p counts for nothing (Tarone). It bounds the chance of any "
        "false statement that a metric differs at {}, however metrics and steps depend on each "
        "other, where videos of groups that do not differ vary alike; where a small group's videos vary "
        "much more than a large one's, that chance is greater. Beside it the results hold p of Welch's t "
        "adjusted after Holm and after Benjamini and Hochberg, and Mann and Whitney's U.",
        group_digits(view.permutations), kAlpha));
  }
  page.paragraph(fmt::format(
      "Effects are Hedges' g: the difference of means, first group less second, over the pooled standard deviation, "
      "corrected for small samples with the exact factor. Intervals are of 95 %, by Welch's t of differences and by "
      "Student's t of means; each is of one number, and is not corrected for how many there are. comparisons.csv has "
      "percentile bootstrap intervals beside them, from {} resamples of videos within their groups, which are too "
      "narrow of few videos.{}",
      group_digits(view.bootstraps),
      view.bootstraps + view.permutations > 0 ? fmt::format(" Seed: {}.", view.seed) : ""));
  if (!view.separability.empty()) {
    page.paragraph(
        "Separability: the first components of all features of a step's latents, the ratio of the mean distance "
        "between videos of different groups to that within groups, and the mean silhouette (Rousseeuw) there. What is "
        "said of the step where groups are most apart is corrected for the number of steps (Bonferroni); it is a test "
        "of "
        "its own beside those of metrics.");
  }
}

std::string make_page(const AnalysisView& view) {
  check_view(view);
  const std::vector<Finding> findings = collect_findings(view);
  report::PageWriter page("Latents: how groups of videos differ", "latents");
  for (const std::string& paragraph : write_answer(view, findings)) page.lead(paragraph);
  page.facts(list_facts(view, findings));
  if (!view.left_out.empty()) {
    page.note(fmt::format(
        "{} left out: see \u201CWhat was left out\u201D.",
        view.left_out.size() == 1 ? std::string("1 thing was") : group_digits(view.left_out.size()) + " things were"));
  }
  add_differences(page, view, findings);
  add_curves(page, view);
  add_matrices(page, view, findings);
  add_channels(page, view);
  add_spectra(page, view);
  add_whole_videos(page, view);
  add_separability(page, view);
  add_groups(page, view);
  add_left_out(page, view);
  add_methods(page, view);
  return page.finish();
}

}  // namespace millrace::latents
