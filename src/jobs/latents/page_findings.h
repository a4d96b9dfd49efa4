// Input: results of comparisons.
// Output: what of them is worth a sentence: by pair of groups and metric, where they differ, and the answer in words.
// Never: leaves an effect, an interval or a p out of a sentence that says that something differs.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/options.h"
#include "src/jobs/latents/page.h"
#include "src/report/page/page.h"

namespace millrace::latents {

inline bool in_family(const PairResult& result) { return result.p_family == result.p_family; }
inline bool differs(const PairResult& result) { return result.p_family <= kAlpha; }

// A pair of groups and a metric, of which at least one comparison is in the family.
struct Finding {
  // Where the pair differs: the largest effect; else the smallest p.
  const PairResult* strongest = nullptr;
  std::vector<long long> steps;  // where they differ, in order; -1: all steps together
  bool differs() const { return !steps.empty(); }
};

// Those that differ first, by the size of the effect; then the others, by p. Points into the view.
std::vector<Finding> findings_of(const AnalysisView& view);

// "a against b".
std::string pair_text(const AnalysisView& view, const PairResult& result);
// "3–5", "9": runs of the view's steps; and whether -1, all steps together, is among them.
struct StepRuns {
  std::vector<std::string> runs;
  bool whole = false;
};
StepRuns runs_of(const AnalysisView& view, const std::vector<long long>& steps);
// "step 5", "steps 3–5 and 9".
std::string steps_text(const AnalysisView& view, const std::vector<long long>& steps);
// "0.810 against 1.02, difference −0.210 (95 % interval −0.300 to −0.100), Hedges' g −2.10, family-wise p = 0.0003".
std::string effect_text(const AnalysisView& view, const PairResult& result);

// The page's first paragraphs.
std::vector<std::string> answer_of(const AnalysisView& view, const std::vector<Finding>& findings);
std::vector<report::Fact> facts_of(const AnalysisView& view, const std::vector<Finding>& findings);
// Why there are no tests; empty where there are some.
std::string no_tests(const AnalysisView& view);

}  // namespace millrace::latents
