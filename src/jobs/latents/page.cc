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
    throw Failure(ErrorCode::internal, "a result refers to a missing group or metric");
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
  page.section("Skipped items and notes");
  if (view.left_out.empty()) {
    page.paragraph("None: every file was used, and every metric was measured.");
    return;
  }
  report::Table table;
  table.columns = {{"item"}, {"reason"}};
  for (const auto& [what, why] : view.left_out) {
    if (table.rows.size() == report::kMaxNumberRows) break;
    table.rows.push_back({what, why});
  }
  if (table.rows.size() < view.left_out.size()) {
    table.note = fmt::format("Only the first {} of {} are shown.", group_digits(table.rows.size()),
                             group_digits(view.left_out.size()));
  }
  page.table(table);
}

void add_methods(report::PageWriter& page, const AnalysisView& view) {
  page.section("Methods");
  page.paragraph(
      "The metrics are defined in Millrace's docs/latents.md. The unit of analysis is the video: a group's sample is "
      "its videos. Latents, frames and pixels of one video are not counted as independent.");
  if (explain_no_tests(view).empty()) {
    page.paragraph(fmt::format(
        "Pairs of groups are compared by Welch's t with Welch-Satterthwaite degrees of freedom. The p-value of a "
        "comparison is from permutations of a pair's videos between its two groups: all permutations, or {} random "
        "ones if there are more. The family-wise p is corrected for all metrics and steps of a pair by Westfall and "
        "Young's single-step max-T: it is the share of permutations in which the largest |t| is at least as large. It "
        "is corrected for the number of pairs of groups by Sidak's method, which ignores pairs with too few videos for "
        "so small a p (Tarone). If groups that do not differ have the same spread, the chance of any false report that "
        "a metric differs is at most {}, however metrics and steps depend on each other. If the videos of a small "
        "group vary much more than those of a large one, that chance is greater. The results also contain the p-value "
        "of Welch's t adjusted by Holm and by Benjamini and Hochberg, and the Mann-Whitney U.",
        group_digits(view.permutations), kAlpha));
  }
  page.paragraph(
      fmt::format("Effects are Hedges' g: the difference of means (first group minus second) divided by the pooled "
                  "standard deviation, with the exact correction for small samples. Intervals are 95 % intervals, by "
                  "Welch's t for differences and by Student's t for means. Each interval is for one number and is not "
                  "corrected for multiple comparisons. comparisons.csv also has percentile bootstrap intervals, from "
                  "{} resamples of videos within their groups; with few videos they are too narrow.{}",
                  group_digits(view.bootstraps),
                  view.bootstraps + view.permutations > 0 ? fmt::format(" Seed: {}.", view.seed) : ""));
  if (!view.separability.empty()) {
    page.paragraph(
        "Separability uses the first principal components of all features of a step's latents. The ratio is the mean "
        "distance between videos of different groups divided by that within groups; the silhouette (Rousseeuw) is a "
        "mean over videos. The p-value at the step with the largest ratio is corrected for the number of steps "
        "(Bonferroni). It is a separate test, in addition to those of the metrics.");
  }
}

std::string make_page(const AnalysisView& view) {
  check_view(view);
  const std::vector<Finding> findings = collect_findings(view);
  report::PageWriter page("Latents: how groups of videos differ", "latents");
  for (const std::string& paragraph : write_answer(view, findings)) page.lead(paragraph);
  page.facts(list_facts(view, findings));
  if (!view.left_out.empty()) {
    page.note(fmt::format("{}: see \u201CSkipped items and notes\u201D.",
                          view.left_out.size() == 1 ? std::string("1 skipped item or note")
                                                    : group_digits(view.left_out.size()) + " skipped items and notes"));
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
