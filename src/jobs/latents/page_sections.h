// Input: the view, and the findings in it.
// Output: sections of the page, one function each, in the page's order.
// Never: writes an empty section; where one is expected, a sentence says why it is missing.
#pragma once

#include <limits>
#include <vector>

#include "src/jobs/latents/page.h"
#include "src/jobs/latents/page_findings.h"
#include "src/report/page/page.h"

namespace millrace::latents {

// A value that a figure leaves out.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Adds a plot and a table of the strongest differences.
void add_differences(report::PageWriter& page, const AnalysisView& view, const std::vector<Finding>& findings);
// Adds matrices: p by metric and step, effects by metric and pair, and effects of each pair by step.
void add_matrices(report::PageWriter& page, const AnalysisView& view, const std::vector<Finding>& findings);
// Adds plots of each metric against the step, by family.
void add_curves(report::PageWriter& page, const AnalysisView& view);
void add_channels(report::PageWriter& page, const AnalysisView& view);
void add_spectra(report::PageWriter& page, const AnalysisView& view);
// Adds trajectories, and comparisons over all steps that are outside of the family.
void add_whole_videos(report::PageWriter& page, const AnalysisView& view);
void add_separability(report::PageWriter& page, const AnalysisView& view);
void add_left_out(report::PageWriter& page, const AnalysisView& view);
void add_methods(report::PageWriter& page, const AnalysisView& view);

// Returns the columns of a table of comparisons.
std::vector<report::TableColumn> comparison_columns(bool family);
// Returns the cells of a result; `finding` is the one that it belongs to, or null outside of the family.
std::vector<std::string> comparison_cells(const AnalysisView& view, const PairResult& result, const Finding* finding);

}  // namespace millrace::latents
