// Input: the view, and what was found in it.
// Output: sections of the page, one function each, in the page's order.
// Never: a section without anything in it; where something should have been there, a sentence says why it is not.
#pragma once

#include <limits>
#include <vector>

#include "src/jobs/latents/page.h"
#include "src/jobs/latents/page_findings.h"
#include "src/report/page/page.h"

namespace millrace::latents {

// A value that a figure leaves out.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A table and a plot of the strongest.
void add_differences(report::PageWriter& page, const AnalysisView& view, const std::vector<Finding>& findings);
// p by metric and step, effects by metric and pair, and of each pair by step.
void add_matrices(report::PageWriter& page, const AnalysisView& view, const std::vector<Finding>& findings);
// Each metric against the step, by family.
void add_curves(report::PageWriter& page, const AnalysisView& view);
void add_channels(report::PageWriter& page, const AnalysisView& view);
void add_spectra(report::PageWriter& page, const AnalysisView& view);
// Trajectories, and all that has no step.
void add_whole_videos(report::PageWriter& page, const AnalysisView& view);
void add_separability(report::PageWriter& page, const AnalysisView& view);
void add_left_out(report::PageWriter& page, const AnalysisView& view);
void add_methods(report::PageWriter& page, const AnalysisView& view);

// Columns and cells of a table of comparisons.
std::vector<report::Column> comparison_columns(bool family);
// With the finding that it is of, or null where it is not of the family.
std::vector<std::string> comparison_cells(const AnalysisView& view, const PairResult& result, const Finding* finding);

}  // namespace millrace::latents
