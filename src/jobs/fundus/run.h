// Input: the options.
// Output: the field of view of every photograph, their crops and enhanced images, and tables.
// Never: stops because a photograph cannot be used.
#pragma once

#include <vector>

#include "src/jobs/fundus/photograph.h"
#include "src/jobs/job.h"

namespace millrace::fundus {

struct FundusSummary {
  std::vector<PhotographResult> photographs;
  std::vector<Error> unusable;
  double seconds = 0;
};

bool is_input(const std::string& path);
Plan plan(const FundusOptions& options, RunContext& context);
FundusSummary run(const FundusOptions& options, RunContext& context);

}  // namespace millrace::fundus
