// Input: results of comparisons.
// Output: the results that are worth a sentence: by pair of groups and metric, the steps at which they differ, and the
//   answer in words.
// Never: reports a difference without its effect, its interval and its p.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/options.h"
#include "src/jobs/latents/page.h"
#include "src/report/page/page.h"

namespace millrace::latents {

inline bool is_in_family(const PairResult& result) { return result.p_family == result.p_family; }
inline bool differs(const PairResult& result) { return result.p_family <= kAlpha; }

// Finding about a pair of groups and a metric with at least one comparison in the family.
struct Finding {
  // The result with the largest effect if the pair differs, else the one with the smallest p.
  const PairResult* strongest = nullptr;
  std::vector<long long> steps;  // steps at which they differ, in order; -1: all steps together
  bool differs() const { return !steps.empty(); }
};

// Returns findings that differ first, by the size of the effect; then the others, by p. They point into the view.
std::vector<Finding> collect_findings(const AnalysisView& view);

// Returns "a against b".
std::string format_pair(const AnalysisView& view, const PairResult& result);
// Runs of the view's steps, such as "3–5" and "9". `whole` is true if -1, all steps together, is among them.
struct StepRuns {
  std::vector<std::string> runs;
  bool whole = false;
};
StepRuns find_step_runs(const AnalysisView& view, const std::vector<long long>& steps);
// Returns a text such as "step 5" or "steps 3–5 and 9".
std::string format_steps(const AnalysisView& view, const std::vector<long long>& steps);
// Returns a text such as:
// "0.810 against 1.02, difference −0.210 (95 % interval −0.300 to −0.100), Hedges' g −2.10, family-wise p = 0.0003".
std::string format_effect(const AnalysisView& view, const PairResult& result);

// Returns the page's first paragraphs.
std::vector<std::string> write_answer(const AnalysisView& view, const std::vector<Finding>& findings);
std::vector<report::PageFact> list_facts(const AnalysisView& view, const std::vector<Finding>& findings);
// Returns the reason why there are no tests; empty if there are some.
std::string explain_no_tests(const AnalysisView& view);

}  // namespace millrace::latents
